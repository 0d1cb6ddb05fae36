//! File sizes: over 500 lines without tests only on the list, over 1,000 never.
//!
//! The list is a ratchet: a file that shrank must leave it.

use super::Finding;
use super::exceptions::Exceptions;
use super::tree::Tree;

const LINES_LISTED: usize = 500;
const LINES_MAX: usize = 1_000;

pub(super) fn check(tree: &Tree, exceptions: &Exceptions) -> Vec<Finding> {
    let listed = |path: &str| exceptions.long_files.iter().any(|file| file.path == path);
    let sizes = tree.sources().map(|(path, source)| (path, source.lines_without_tests()));
    let mut findings = Vec::new();
    for (path, lines) in sizes {
        if lines > LINES_MAX {
            let message = format!("{lines} lines without tests, over {LINES_MAX}: split it");
            findings.push(Finding::new(path, 1, message));
        } else if lines > LINES_LISTED && !listed(path) {
            let message = format!(
                "{lines} lines without tests, over {LINES_LISTED}: split it, or list it with its reason"
            );
            findings.push(Finding::new(path, 1, message));
        }
    }
    for file in exceptions.long_files {
        let lines = tree.source(file.path).map_or(0, super::source::Source::lines_without_tests);
        if lines <= LINES_LISTED {
            let message = format!(
                "{lines} lines without tests: take it off the list of long files (\"{}\")",
                file.reason
            );
            findings.push(Finding::new(file.path, 1, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::exceptions::{Exceptions, Listed, NONE};
    use super::super::messages;
    use super::check;

    const LISTED: Exceptions =
        Exceptions { long_files: &[Listed { path: "a.rs", reason: "one idea" }], ..NONE };

    fn found(exceptions: &Exceptions, lines: usize, test_lines: usize) -> Vec<String> {
        let code = "use x;\n".repeat(lines);
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "use x;\n".repeat(test_lines));
        messages(check, exceptions, &[("a.rs", &(code + &tests))])
    }

    #[test]
    fn long_files_are_listed() {
        assert!(found(&NONE, 500, 600).is_empty());
        assert_eq!(
            found(&NONE, 501, 0),
            ["a.rs:1: 501 lines without tests, over 500: split it, or list it with its reason"]
        );
        assert!(found(&LISTED, 501, 0).is_empty());
    }

    #[test]
    fn too_long_is_too_long() {
        assert!(found(&LISTED, 1_000, 0).is_empty());
        assert_eq!(
            found(&LISTED, 1_001, 0),
            ["a.rs:1: 1001 lines without tests, over 1000: split it"]
        );
    }

    #[test]
    fn the_list_is_exact() {
        let gone = "take it off the list of long files (\"one idea\")";
        assert_eq!(found(&LISTED, 500, 9), [format!("a.rs:1: 500 lines without tests: {gone}")]);
        let none = messages(check, &LISTED, &[]);
        assert_eq!(none, [format!("a.rs:1: 0 lines without tests: {gone}")]);
    }
}
