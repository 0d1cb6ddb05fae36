//! `cargo xtask tidy`: the house rules that neither the compiler nor clippy holds.
//!
//! Each check is a file of its own: a pure function from a [`Tree`] (path to text) and the
//! [`Exceptions`] to findings. Only [`tree`] touches the disk, so every check is tested on a
//! tree of a few lines. Exceptions stand in [`exceptions`] alone and are exact: one that excuses
//! nothing is a finding itself.

mod crate_walls;
mod decisions;
mod exceptions;
mod file_size;
mod front_page;
mod function_size;
mod lexer;
mod links;
mod manifest;
mod markdown;
mod module_order;
mod opening;
mod source;
mod tree;
mod unsafe_files;
mod words;

use std::fmt;
use std::path::Path;

use exceptions::{EXCEPTIONS, Exceptions};
use tree::Tree;

/// One breach of a rule, at a line that starts at 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

type Check = fn(&Tree, &Exceptions) -> Vec<Finding>;

const CHECKS: &[Check] = &[
    opening::check,
    file_size::check,
    function_size::check,
    module_order::check,
    crate_walls::check,
    manifest::check,
    unsafe_files::check,
    links::check,
    words::check,
    decisions::check,
    front_page::check,
];

/// Checks the checkout at `root`, prints what it finds, and says whether it is clean.
pub(crate) fn run(root: &Path) -> Result<bool, String> {
    let tree = Tree::read(root)?;
    let findings = findings(&tree, &EXCEPTIONS);
    for finding in &findings {
        println!("{finding}");
    }
    let lengths = function_size::Lengths::of(&tree);
    println!("tidy: {} files, {} findings; {lengths}", tree.len(), findings.len());
    Ok(findings.is_empty())
}

fn findings(tree: &Tree, exceptions: &Exceptions) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        CHECKS.iter().flat_map(|check| check(tree, exceptions)).collect();
    findings.sort();
    findings.dedup();
    findings
}

/// The messages of `check` on a tree of `files`, each with its place: for the tests of the checks.
#[cfg(test)]
fn messages(check: Check, exceptions: &Exceptions, files: &[(&str, &str)]) -> Vec<String> {
    check(&Tree::of(files), exceptions).iter().map(Finding::to_string).collect()
}
