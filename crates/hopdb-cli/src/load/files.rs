//! `--nodes` and `--relationships`: labels or type, then files.
//!
//! A text that as a whole names a file is that file. Otherwise labels or type end at the first `=`, and what is
//! behind is one file or several with commas between; a text that starts with `=` has files only.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use hopdb::load::{LoadPlan, NodeFiles, RelationshipFiles};

use crate::failure::Failure;

pub(super) fn nodes(text: &OsStr) -> Result<NodeFiles, Failure> {
    let (labels, files) = split(text, "--nodes=Label=file.csv")?;
    let labels = match labels {
        Some(labels) => {
            let labels = labels.strip_prefix(':').unwrap_or(labels);
            labels.split(':').map(|label| label.trim().to_owned()).collect()
        }
        None => Vec::new(),
    };
    Ok(NodeFiles { labels, files })
}

pub(super) fn relationships(text: &OsStr) -> Result<RelationshipFiles, Failure> {
    let (relationship_type, files) = split(text, "--relationships=TYPE=file.csv")?;
    let relationship_type = relationship_type.map(|name| name.trim().to_owned());
    Ok(RelationshipFiles { relationship_type, files })
}

/// What stands before the files, if anything, and the files.
fn split<'t>(text: &'t OsStr, form: &str) -> Result<(Option<&'t str>, Vec<PathBuf>), Failure> {
    let wrong = |what: &str| {
        let message = format!("{:?}: {what}", text.to_string_lossy());
        Failure::input(message, format!("write it as in {form}"))
    };
    let bytes = text.as_bytes();
    let at = match Path::new(text).is_file() {
        true => None,
        false => bytes.iter().position(|byte| *byte == b'='),
    };
    let Some(at) = at else { return Ok((None, files(bytes).ok_or_else(|| wrong(NO_FILE))?)) };
    let name = std::str::from_utf8(&bytes[..at]).map_err(|_| wrong("the name is not UTF-8"))?;
    let files = files(&bytes[at + 1..]).ok_or_else(|| wrong(NO_FILE))?;
    Ok(((!name.is_empty()).then_some(name), files))
}

const NO_FILE: &str = "a file has no name";

fn files(bytes: &[u8]) -> Option<Vec<PathBuf>> {
    let path = |bytes: &[u8]| PathBuf::from(OsString::from(OsStr::from_bytes(bytes)));
    if path(bytes).is_file() {
        return Some(vec![path(bytes)]);
    }
    let parts: Vec<&[u8]> = bytes.split(|byte| *byte == b',').collect();
    let named = parts.iter().all(|part| !part.is_empty());
    named.then(|| parts.into_iter().map(path).collect())
}

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
        let group = nodes(OsStr::new(text)).unwrap();
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
        ] {
            assert_eq!(node_files(text), (owned(labels), owned(files)), "{text}");
        }
        let group = relationships(OsStr::new("A:B=a.csv")).unwrap();
        assert_eq!(group.relationship_type.as_deref(), Some("A:B"));
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
    fn files_need_names() {
        for text in ["", "A=", "a.csv,", "A=,a.csv"] {
            assert!(nodes(OsStr::new(text)).is_err(), "{text}");
        }
    }
}
