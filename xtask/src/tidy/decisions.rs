//! The decisions: the index names every one, and the table of dependencies is exact.
//!
//! A row of the table starts with the name of the crate as code. Every foreign crate of
//! `[workspace.dependencies]` has a row and a crate that uses it; no other crate has a row.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::Finding;
use super::exceptions::Exceptions;
use super::manifest::{Manifest, line_of_key};
use super::tree::Tree;

const FOLDER: &str = "docs/decisions/";
const INDEX: &str = "docs/decisions/README.md";
const TABLE: &str = "docs/decisions/dependencies.md";

pub(super) fn check(tree: &Tree, _: &Exceptions) -> Vec<Finding> {
    let mut findings = check_index(tree);
    findings.extend(check_dependencies(tree).unwrap_or_default());
    findings
}

fn check_index(tree: &Tree) -> Vec<Finding> {
    let index = tree.text(INDEX).unwrap_or_default();
    let decisions = tree.texts().filter_map(|(path, _)| Some((path, path.strip_prefix(FOLDER)?)));
    decisions
        .filter(|(path, name)| *path != INDEX && name.ends_with(".md"))
        .filter(|(_, name)| !index.contains(&format!("]({name})")))
        .map(|(path, _)| Finding::new(path, 1, format!("name this decision in {INDEX}")))
        .collect()
}

fn check_dependencies(tree: &Tree) -> Option<Vec<Finding>> {
    let root = tree.text("Cargo.toml")?;
    let table: Table = root.parse().ok()?;
    let all = table.get("workspace")?.get("dependencies")?.as_table()?;
    let foreign = |(_, value): &(&String, &Value)| value.get("path").is_none();
    let declared: Vec<&str> = all.iter().filter(foreign).map(|(key, _)| key.as_str()).collect();
    let rows = rows(tree.text(TABLE).unwrap_or_default());
    let manifests = Manifest::all(tree);
    let used: Vec<String> =
        manifests.iter().flat_map(Manifest::dependencies).map(|d| d.name).collect();

    let mut findings = Vec::new();
    for name in &declared {
        let line = line_of_key(root, name);
        if !rows.contains_key(name) {
            let message = format!("give `{name}` a row in {TABLE}: what it is used for, and why");
            findings.push(Finding::new("Cargo.toml", line, message));
        }
        if !used.iter().any(|used| used == name) {
            let message = format!("no crate uses `{name}`: take it out, and its row in {TABLE}");
            findings.push(Finding::new("Cargo.toml", line, message));
        }
    }
    for (name, line) in rows.iter().filter(|(name, _)| !declared.contains(name)) {
        let message = format!("`{name}` is not in [workspace.dependencies]: take the row out");
        findings.push(Finding::new(TABLE, *line, message));
    }
    Some(findings)
}

/// The names that start a row, with their lines.
fn rows(text: &str) -> BTreeMap<&str, usize> {
    let lines = text.lines().enumerate();
    lines
        .filter_map(|(index, line)| {
            let (name, _) = line.strip_prefix("| `")?.split_once('`')?;
            Some((name, index + 1))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::{exceptions::NONE, messages};
    use super::check;

    const ROOT: &str =
        "[workspace.dependencies]\nclap = \"4\"\nhopdb = { path = \"crates/hopdb\" }\n";
    const CRATE: &str = "[package]\nname = \"a\"\n[dependencies]\nclap.workspace = true\n";
    const LIST: &str = "docs/decisions/dependencies.md";

    fn found(root: &str, table: &str, index: &str) -> Vec<String> {
        let files = [
            ("Cargo.toml", root),
            ("crates/a/Cargo.toml", CRATE),
            (LIST, table),
            ("docs/decisions/README.md", index),
        ];
        messages(check, &NONE, &files)
    }

    #[test]
    fn the_table_is_exact() {
        let index = "[Dependencies](dependencies.md)";
        let row = "| crate | use |\n|---|---|\n| `clap` | arguments |\n";
        assert!(found(ROOT, row, index).is_empty());
        assert_eq!(
            found(ROOT, "", index),
            [format!("Cargo.toml:2: give `clap` a row in {LIST}: what it is used for, and why")]
        );
        assert_eq!(
            found(ROOT, &format!("{row}| `rand` | dice |\n"), index),
            [format!("{LIST}:4: `rand` is not in [workspace.dependencies]: take the row out")]
        );
        let unused = format!("{ROOT}csv = \"1\"\n");
        assert_eq!(
            found(&unused, &format!("{row}| `csv` | rows |\n"), index),
            [format!("Cargo.toml:4: no crate uses `csv`: take it out, and its row in {LIST}")]
        );
    }

    #[test]
    fn the_index_names_every_decision() {
        let row = "| `clap` | arguments |\n";
        assert_eq!(
            found(ROOT, row, "nothing"),
            [format!("{LIST}:1: name this decision in docs/decisions/README.md")]
        );
    }
}
