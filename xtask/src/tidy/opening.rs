//! Every Rust file opens with `//!`: what it is for and what it must not do.

use super::Finding;
use super::exceptions::Exceptions;
use super::tree::Tree;

pub(super) fn check(tree: &Tree, _: &Exceptions) -> Vec<Finding> {
    tree.texts()
        .filter(|(path, _)| path.ends_with(".rs"))
        .filter(|(_, text)| {
            let first = text.lines().next().unwrap_or_default();
            first.strip_prefix("//!").is_none_or(|words| words.trim().is_empty())
        })
        .map(|(path, _)| Finding::new(path, 1, "open the file with `//!`: what it is for"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::{exceptions::NONE, messages};
    use super::check;

    #[test]
    fn files_open_with_their_purpose() {
        let clean = [("a.rs", "//! Words.\n#![deny(x)]\n"), ("b.md", "text")];
        assert!(messages(check, &NONE, &clean).is_empty());
        for text in ["", "fn a() {}\n", "//!\n", "#![deny(x)]\n//! Words.\n", "// Words.\n"] {
            assert_eq!(
                messages(check, &NONE, &[("a.rs", text)]),
                ["a.rs:1: open the file with `//!`: what it is for"]
            );
        }
    }
}
