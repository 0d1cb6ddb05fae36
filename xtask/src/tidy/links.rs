//! Links in documents: relative targets and `#anchors` resolve, and paths written as code exist.
//!
//! Paths as code are checked in Rust comments too: a comment that points nowhere misleads the
//! same way.

use super::Finding;
use super::exceptions::Exceptions;
use super::markdown::{Document, split_code_spans};
use super::tree::Tree;

/// The starts of what looks like a path of this repository.
const PATH_STARTS: [&str; 4] = ["crates/", "docs/", "xtask/", ".ci/"];

/// A code span with one of these is a pattern or a command, not a path.
const PATTERN_SIGNS: &[char] = &['*', '<', '>', '{', '}', '…', '$', ' '];

pub(super) fn check(tree: &Tree, _: &Exceptions) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts() {
        if path.ends_with(".md") {
            findings.extend(check_document(tree, path, &Document::new(text)));
        } else if path.ends_with(".rs") {
            findings.extend(check_comments(tree, path, text));
        }
    }
    findings
}

fn check_document(tree: &Tree, path: &str, document: &Document) -> Vec<Finding> {
    let links = document.links.iter().filter_map(|(line, target)| {
        let message = broken_link(tree, path, target)?;
        Some(Finding::new(path, *line, message))
    });
    let spans = document.code_spans.iter().filter_map(|(line, span)| {
        let message = missing_path(tree, span)?;
        Some(Finding::new(path, *line, message))
    });
    links.chain(spans).collect()
}

fn check_comments(tree: &Tree, path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, l)| l.trim_start().starts_with("//"))
    {
        let (spans, _) = split_code_spans(line);
        let missing = spans.iter().filter_map(|span| missing_path(tree, span));
        findings.extend(missing.map(|message| Finding::new(path, index + 1, message)));
    }
    findings
}

/// What is wrong with `target`, written in the document at `from`.
fn broken_link(tree: &Tree, from: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let resolved = if file.is_empty() { Some(from.to_owned()) } else { resolve(from, file) };
    let Some(resolved) = resolved.filter(|path| tree.has(path)) else {
        return Some(format!("the link `{target}` leads nowhere"));
    };
    if anchor.is_empty() || !resolved.ends_with(".md") {
        return None;
    }
    let text = tree.text(&resolved).unwrap_or_default();
    let found = Document::new(text).anchors.contains(anchor);
    (!found).then(|| format!("the link `{target}`: {resolved} has no heading `#{anchor}`"))
}

/// `file` as seen from the folder of the document at `from`; none when it leaves the checkout.
fn resolve(from: &str, file: &str) -> Option<String> {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let (folder, file) = file.strip_prefix('/').map_or((folder, file), |file| ("", file));
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// What is wrong with a code span that looks like a path of this repository.
fn missing_path(tree: &Tree, span: &str) -> Option<String> {
    if !PATH_STARTS.iter().any(|start| span.starts_with(start)) || span.contains(PATTERN_SIGNS) {
        return None;
    }
    // A line number or a Rust path may follow the file.
    let path = span.split([':', '#']).next().unwrap_or_default();
    (!tree.has(path.trim_end_matches('/'))).then(|| format!("there is no `{path}`"))
}

#[cfg(test)]
mod tests {
    use super::super::{exceptions::NONE, messages};
    use super::check;

    fn found(text: &str) -> Vec<String> {
        let files = [
            ("docs/a.md", text),
            ("docs/b.md", "# One two\n"),
            ("README.md", ""),
            ("crates/x/src/lib.rs", ""),
        ];
        messages(check, &NONE, &files)
    }

    #[test]
    fn links_that_resolve_are_clean() {
        let text = "# Here\n[a](b.md) [b](b.md#one-two) [c](#here) [d](../README.md) [e](../crates)\n\
            [f](https://example.org/x#y) [g](/docs/b.md) [h](../crates/x/src/lib.rs#L1)\n\
            `docs/b.md` `crates/x/src/lib.rs:12` `crates/x/` `crates/*/src` `docs`\n";
        assert!(found(text).is_empty());
    }

    #[test]
    fn links_that_do_not_are_found() {
        for (text, message) in [
            ("[a](c.md)", "the link `c.md` leads nowhere"),
            ("[a](../../x.md)", "the link `../../x.md` leads nowhere"),
            ("[a](b.md#two)", "the link `b.md#two`: docs/b.md has no heading `#two`"),
            ("[a](#two)", "the link `#two`: docs/a.md has no heading `#two`"),
            ("in `docs/c.md`", "there is no `docs/c.md`"),
            ("in `crates/x/src/y.rs:3`", "there is no `crates/x/src/y.rs`"),
        ] {
            assert_eq!(found(text), [format!("docs/a.md:1: {message}")]);
        }
    }

    #[test]
    fn comments_are_read() {
        let text = "//! See `docs/b.md`.\n/// See `docs/c.md`.\nconst A: &str = \"`docs/d.md`\";\n";
        let files = [("a.rs", text), ("docs/b.md", "")];
        assert_eq!(messages(check, &NONE, &files), ["a.rs:2: there is no `docs/c.md`"]);
    }
}
