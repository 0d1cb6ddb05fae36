//! Unsafe code stands only in files on the list, and those only in crates that may have it.

use super::Finding;
use super::exceptions::Exceptions;
use super::lexer::tokens;
use super::source::Source;
use super::tree::Tree;

/// The engine, and the crates that bind foreign code.
const CRATES: [&str; 3] =
    ["crates/hopdb-storage/src/", "crates/hopdb-bench-peers/src/", "crates/hopdb-python/src/"];

pub(super) fn check(tree: &Tree, exceptions: &Exceptions) -> Vec<Finding> {
    let listed = |path: &str| exceptions.unsafe_files.iter().any(|file| file.path == path);
    let mut findings = Vec::new();
    for (path, source) in tree.sources().filter(|(path, _)| !listed(path)) {
        let message = "unsafe code in a file that is not on the list of files that may hold it";
        findings.extend(unsafe_lines(source).into_iter().map(|at| Finding::new(path, at, message)));
    }
    for file in exceptions.unsafe_files {
        if tree.source(file.path).is_none_or(|source| unsafe_lines(source).is_empty()) {
            let message = format!("no unsafe code: take it off the list (\"{}\")", file.reason);
            findings.push(Finding::new(file.path, 1, message));
        }
        if !CRATES.iter().any(|folder| file.path.starts_with(folder)) {
            findings.push(Finding::new(file.path, 1, "this crate may hold no unsafe code"));
        }
    }
    findings
}

fn unsafe_lines(source: &Source) -> Vec<usize> {
    let tokens = tokens(source.code());
    tokens.iter().filter(|t| t.text == "unsafe").map(|t| source.line(t.offset)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::exceptions::{Exceptions, Listed, NONE};
    use super::super::messages;
    use super::check;

    const ARENA: &str = "crates/hopdb-storage/src/arena.rs";
    const LISTED: Exceptions =
        Exceptions { unsafe_files: &[Listed { path: ARENA, reason: "frames" }], ..NONE };
    const BLOCK: &str = "fn a() {\n    unsafe { b() }\n}\n";

    #[test]
    fn unsafe_code_needs_the_list() {
        assert!(messages(check, &LISTED, &[(ARENA, BLOCK)]).is_empty());
        let found = messages(check, &NONE, &[(ARENA, BLOCK)]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/hopdb-storage/src/arena.rs:2: unsafe code"));
    }

    #[test]
    fn words_are_no_code() {
        let text = "#![deny(unsafe_code)]\n// unsafe\nconst A: &str = \"unsafe\";\n";
        assert!(messages(check, &NONE, &[(ARENA, text)]).is_empty());
    }

    #[test]
    fn the_list_is_exact() {
        let found = messages(check, &LISTED, &[(ARENA, "fn a() {}\n")]);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("no unsafe code"));
    }

    #[test]
    fn other_crates_have_none() {
        const WRONG: Exceptions = Exceptions {
            unsafe_files: &[Listed { path: "crates/hopdb/src/a.rs", reason: "speed" }],
            ..NONE
        };
        let found = messages(check, &WRONG, &[("crates/hopdb/src/a.rs", BLOCK)]);
        assert_eq!(found, ["crates/hopdb/src/a.rs:1: this crate may hold no unsafe code"]);
    }
}
