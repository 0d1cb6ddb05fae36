//! `--nodes` and `--relationships`: labels or type, then files.
//!
//! A text that as a whole names a file is that file. Otherwise labels or type end at the first `=` outside
//! backquotes, in which any name can stand, and what is
//! behind is one file or several with commas between; a text that starts with `=` has files only. A file that is
//! not there, and whose name has `*`, `?` or `[`, stands for all files it fits, in the order of their names.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use hopdb::load::names::{split_names, whole_name};
use hopdb::load::{LoadPlan, NodeFiles, RelationshipFiles, STANDARD_INPUT};

use crate::failure::Failure;

/// Where relative names begin.
pub(super) struct Place<'p> {
    folder: Option<&'p Path>,
}

impl<'p> Place<'p> {
    pub(super) fn new(folder: Option<&'p Path>) -> Self {
        Self { folder }
    }

    fn path(&self, bytes: &[u8]) -> PathBuf {
        let path = PathBuf::from(OsString::from(OsStr::from_bytes(bytes)));
        match self.folder {
            Some(folder) if path != Path::new(STANDARD_INPUT) => folder.join(path),
            _ => path,
        }
    }
}

pub(super) fn nodes(place: &Place<'_>, text: &OsStr) -> Result<NodeFiles, Failure> {
    let (labels, files) = split(place, text, NODES_FORM)?;
    let labels = match labels {
        Some(labels) => {
            let labels = labels.strip_prefix(':').unwrap_or(labels);
            split_names(labels, ':').map_err(|reason| wrong(text, &reason, NODES_FORM))?
        }
        None => Vec::new(),
    };
    Ok(NodeFiles { labels, files })
}

pub(super) fn relationships(place: &Place<'_>, text: &OsStr) -> Result<RelationshipFiles, Failure> {
    let (relationship_type, files) = split(place, text, RELATIONSHIPS_FORM)?;
    let name = relationship_type.map(|name| whole_name(name.trim())).transpose();
    let name = name.map_err(|reason| wrong(text, &reason, RELATIONSHIPS_FORM))?;
    let relationship_type = name.map(Cow::into_owned);
    Ok(RelationshipFiles { relationship_type, files })
}

/// The standard input is gone once it is read.
pub(super) fn refuse_two_inputs<'p>(
    files: impl Iterator<Item = &'p PathBuf>,
) -> Result<(), Failure> {
    if files.filter(|file| *file == Path::new(STANDARD_INPUT)).count() < 2 {
        return Ok(());
    }
    let message = "the standard input can be read once only";
    Err(Failure::input(message, "put one of the inputs into a file"))
}

/// What stands before the files, if anything, and the files.
fn split<'t>(
    place: &Place<'_>,
    text: &'t OsStr,
    form: &str,
) -> Result<(Option<&'t str>, Vec<PathBuf>), Failure> {
    let wrong = |what| wrong(text, what, form);
    let bytes = text.as_bytes();
    let at = match place.path(bytes).is_file() {
        true => None,
        false => end_of_names(bytes),
    };
    let Some(at) = at else {
        return Ok((None, files(place, bytes)?.ok_or_else(|| wrong(NO_FILE))?));
    };
    let name = std::str::from_utf8(&bytes[..at]).map_err(|_| wrong("the name is not UTF-8"))?;
    let files = files(place, &bytes[at + 1..])?.ok_or_else(|| wrong(NO_FILE))?;
    Ok(((!name.is_empty()).then_some(name), files))
}

/// Where the first `=` is that is in no name; the first of all where names are wrong.
fn end_of_names(bytes: &[u8]) -> Option<usize> {
    let all = || bytes.iter().enumerate().filter(|(_, byte)| **byte == b'=').map(|(at, _)| at);
    let whole = |at: &usize| {
        std::str::from_utf8(&bytes[..*at]).is_ok_and(|names| split_names(names, ':').is_ok())
    };
    all().find(whole).or_else(|| all().next())
}

fn wrong(text: &OsStr, what: &str, form: &str) -> Failure {
    let message = format!("{:?}: {what}", text.to_string_lossy());
    Failure::input(message, format!("write it as in {form}"))
}

const NODES_FORM: &str = "--nodes=Label=file.csv";
const RELATIONSHIPS_FORM: &str = "--relationships=TYPE=file.csv";

const NO_FILE: &str = "a file has no name";

fn files(place: &Place<'_>, bytes: &[u8]) -> Result<Option<Vec<PathBuf>>, Failure> {
    if place.path(bytes).is_file() {
        return Ok(Some(vec![place.path(bytes)]));
    }
    let parts: Vec<&[u8]> = bytes.split(|byte| *byte == b',').collect();
    if parts.iter().any(|part| part.is_empty()) {
        return Ok(None);
    }
    let mut files = Vec::new();
    for part in parts {
        match_files(place.path(part), &mut files)?;
    }
    Ok(Some(files))
}

/// Adds the file, or those that it stands for.
fn match_files(path: PathBuf, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let pattern = path.to_string_lossy();
    if !pattern.contains(['*', '?', '[']) || path.exists() {
        files.push(path);
        return Ok(());
    }
    let wrong = |reason: String| Failure::input(format!("{pattern}: {reason}"), GLOB_HINT);
    let found = glob::glob(&pattern).map_err(|error| wrong(error.to_string()))?;
    let before = files.len();
    for file in found {
        let file = file.map_err(|error| wrong(error.to_string()))?;
        if file.is_file() {
            files.push(file);
        }
    }
    if files.len() == before { Err(wrong("no file fits".into())) } else { Ok(()) }
}

const GLOB_HINT: &str =
    "* stands for any characters, ? for one, ** for folders; quote it from the shell";

/// Bytes of all files of a load; `None` when one has no length, such as a pipe.
pub(super) fn total_bytes(plan: &LoadPlan) -> Option<u64> {
    let nodes = plan.nodes.iter().flat_map(|group| &group.files);
    let relationships = plan.relationships.iter().flat_map(|group| &group.files);
    let length = |path: &PathBuf| {
        let metadata = std::fs::metadata(path).ok()?;
        metadata.is_file().then_some(metadata.len())
    };
    nodes.chain(relationships).map(length).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node_files(text: &str) -> (Vec<String>, Vec<String>) {
        let group = nodes(&Place::new(None), OsStr::new(text)).unwrap();
        let files = group.files.iter().map(|file| file.display().to_string());
        (group.labels, files.collect())
    }

    #[test]
    fn labels_end_at_the_first_equals_sign() {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        for (text, labels, files) in [
            ("a.csv", &[][..], &["a.csv"][..]),
            ("A=a.csv", &["A"], &["a.csv"]),
            ("A:B=a.csv,b.csv", &["A", "B"], &["a.csv", "b.csv"]),
            (":A=c:/a.csv", &["A"], &["c:/a.csv"]),
            ("=year=1/a.csv", &[], &["year=1/a.csv"]),
            ("A=year=1/a.csv", &["A"], &["year=1/a.csv"]),
            ("`A=:`:B``=a.csv", &["A=:", "B``"], &["a.csv"]),
        ] {
            assert_eq!(node_files(text), (owned(labels), owned(files)), "{text}");
        }
        let group = relationships(&Place::new(None), OsStr::new("A:B=a.csv")).unwrap();
        assert_eq!(group.relationship_type.as_deref(), Some("A:B"));
        let group = relationships(&Place::new(None), OsStr::new("`A=\\n`=a.csv")).unwrap();
        assert_eq!(group.relationship_type.as_deref(), Some("A=\n"));
        assert!(nodes(&Place::new(None), OsStr::new("`A=a.csv")).is_err());
    }

    #[test]
    fn files_that_exist_are_taken_whole() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("A=a,b.csv");
        std::fs::write(&file, "x").unwrap();
        let text = file.display().to_string();
        assert_eq!(node_files(&text), (vec![], vec![text.clone()]));
        assert_eq!(node_files(&format!("={text}")), (vec![], vec![text.clone()]));
        assert_eq!(node_files(&format!("L={text}")), (vec!["L".into()], vec![text.clone()]));
    }

    #[test]
    fn patterns_stand_for_files_in_the_order_of_names() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b-2.csv", "b-10.csv", "a.csv", "c[1].csv"] {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }
        let place = Place::new(Some(folder.path()));
        let named = |text: &str| {
            let files = nodes(&place, OsStr::new(text)).map(|group| group.files);
            let short = |file: PathBuf| file.strip_prefix(folder.path()).unwrap().to_owned();
            files.map(|files| files.into_iter().map(short).collect::<Vec<_>>())
        };
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(named("L=a.csv,b-*.csv").unwrap(), paths(&["a.csv", "b-10.csv", "b-2.csv"]));
        assert_eq!(named("L=c[1].csv").unwrap(), paths(&["c[1].csv"]));
        assert!(named("L=d*.csv").unwrap_err().to_string().contains("no file fits"));
        let standard = nodes(&place, OsStr::new("L=-")).unwrap().files;
        assert_eq!(standard, paths(&["-"]));
    }

    #[test]
    fn files_need_names() {
        for text in ["", "A=", "a.csv,", "A=,a.csv"] {
            assert!(nodes(&Place::new(None), OsStr::new(text)).is_err(), "{text}");
        }
    }
}
