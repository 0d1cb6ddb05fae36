//! The checkout as the checks see it: path to text, Rust sources read once.
//!
//! The only part of tidy that touches the disk. Files are those that git tracks or would track.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::source::Source;

/// Paths are relative to the root, with `/`. A file that is no text is there, without text.
pub(super) struct Tree {
    files: BTreeMap<String, Option<String>>,
    sources: BTreeMap<String, Source>,
}

impl Tree {
    /// Reads the files of the checkout at `root`.
    pub(super) fn read(root: &Path) -> Result<Self, String> {
        let mut files = BTreeMap::new();
        for path in list(root)? {
            let full = root.join(&path);
            // Gone from the disk but not yet from git's index; or a symbolic link to a folder.
            if !full.is_file() {
                continue;
            }
            let bytes = std::fs::read(&full).map_err(|e| format!("reading {path}: {e}"))?;
            files.insert(path, text(bytes));
        }
        Ok(Self::new(files))
    }

    /// A tree of these files: for tests.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let own = |(path, text): &(&str, &str)| ((*path).to_owned(), Some((*text).to_owned()));
        Self::new(files.iter().map(own).collect())
    }

    fn new(files: BTreeMap<String, Option<String>>) -> Self {
        let sources = files
            .iter()
            .filter(|(path, _)| path.ends_with(".rs"))
            .filter_map(|(path, text)| Some((path.clone(), Source::new(path, text.as_deref()?))))
            .collect();
        Self { files, sources }
    }

    /// How many files there are.
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// All text files with their text, in order of their paths.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// The text of one file.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// All Rust sources, in order of their paths.
    pub(super) fn sources(&self) -> impl Iterator<Item = (&str, &Source)> {
        self.sources.iter().map(|(path, source)| (path.as_str(), source))
    }

    /// One Rust source.
    pub(super) fn source(&self, path: &str) -> Option<&Source> {
        self.sources.get(path)
    }

    /// Whether `path` is a file, or a folder with a file in it. The root is the empty path.
    pub(super) fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty()
            || self.files.contains_key(path)
            || self
                .files
                .range(folder.clone()..)
                .next()
                .is_some_and(|(p, _)| p.starts_with(&folder))
    }
}

/// The files of the checkout, by git. The owner of the checkout may be somebody else: git is only
/// asked for names.
fn list(root: &Path) -> Result<Vec<String>, String> {
    let output = Command::new("git")
        .args(["-c", "safe.directory=*", "ls-files", "-z"])
        .args(["--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|e| format!("cannot start git: {e}"))?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(format!("git ls-files in {}: {}", root.display(), reason.trim()));
    }
    let names = String::from_utf8(output.stdout).map_err(|e| format!("a file name: {e}"))?;
    Ok(names.split_terminator('\0').map(str::to_owned).collect())
}

/// The text in `bytes`, or none when they are not UTF-8 or hold a zero byte.
fn text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_exist_by_their_files() {
        let tree = Tree::of(&[("docs/a.md", ""), ("docs-old/b.md", "")]);
        for path in ["", "docs", "docs/a.md", "docs-old"] {
            assert!(tree.has(path), "{path}");
        }
        for path in ["doc", "docs/b.md", "docs/a.md/x"] {
            assert!(!tree.has(path), "{path}");
        }
    }

    #[test]
    fn bytes_are_no_text() {
        assert_eq!(text(b"plain".to_vec()), Some("plain".to_owned()));
        assert_eq!(text(vec![0xff, 0xfe]), None);
        assert_eq!(text(b"a\0b".to_vec()), None);
    }
}
