//! The `Cargo.toml` files: reading them, and what each crate must say of itself.
//!
//! A crate under `crates/` is named like its folder, inherits the lints of the workspace, and has
//! a description and a licence. Foreign crates come from `[workspace.dependencies]`.

use toml::{Table, Value};

use super::Finding;
use super::exceptions::Exceptions;
use super::tree::Tree;

/// When a dependency is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// To build the crate, its build script included.
    Build,
    /// For its tests, examples and benchmarks.
    Dev,
}

/// One line of a dependency table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    /// The name of the package, also when the crate renames it.
    pub(super) name: String,
    pub(super) need: Need,
    /// Whether it inherits from `[workspace.dependencies]`.
    pub(super) inherited: bool,
    /// Whether it stands in this repository.
    pub(super) local: bool,
    /// The line of the manifest; 1 when the table has another shape.
    pub(super) line: usize,
}

/// The manifest of one crate.
pub(super) struct Manifest<'t> {
    pub(super) path: &'t str,
    pub(super) name: String,
    text: &'t str,
    table: Table,
}

impl Manifest<'_> {
    /// The manifests of the workspace's crates, in order of their paths. One that begins a workspace
    /// of its own is left out: it builds apart, as `fuzz/` does. So is one that is no TOML: cargo
    /// would not have come this far.
    pub(super) fn all(tree: &Tree) -> Vec<Manifest<'_>> {
        let manifests = tree.texts().filter(|(path, _)| path.ends_with("/Cargo.toml"));
        manifests
            .filter_map(|(path, text)| {
                let table: Table = text.parse().ok()?;
                if table.contains_key("workspace") {
                    return None;
                }
                let name = table.get("package")?.get("name")?.as_str()?.to_owned();
                Some(Manifest { path, name, text, table })
            })
            .collect()
    }

    /// All dependencies, those for single targets included.
    pub(super) fn dependencies(&self) -> Vec<Dependency> {
        let targets = self.table.get("target").and_then(Value::as_table);
        let tables = targets.into_iter().flat_map(|t| t.values()).filter_map(Value::as_table);
        std::iter::once(&self.table).chain(tables).flat_map(|t| self.dependencies_in(t)).collect()
    }

    fn dependencies_in(&self, table: &Table) -> Vec<Dependency> {
        let kinds = [
            ("dependencies", Need::Build),
            ("build-dependencies", Need::Build),
            ("dev-dependencies", Need::Dev),
        ];
        let mut found = Vec::new();
        for (kind, need) in kinds {
            for (key, value) in table.get(kind).and_then(Value::as_table).into_iter().flatten() {
                let field = |name: &str| value.get(name);
                found.push(Dependency {
                    name: field("package").and_then(Value::as_str).unwrap_or(key).to_owned(),
                    need,
                    inherited: field("workspace").and_then(Value::as_bool) == Some(true),
                    local: field("path").is_some(),
                    line: line_of_key(self.text, key),
                });
            }
        }
        found
    }

    fn has_package_field(&self, field: &str) -> bool {
        let value = self.table.get("package").and_then(|package| package.get(field));
        match value {
            Some(Value::String(text)) => !text.trim().is_empty(),
            Some(value) => value.get("workspace").and_then(Value::as_bool) == Some(true),
            None => false,
        }
    }
}

/// The line of the first `key = …` or `key.workspace = …` in `text`; 1 when there is none.
pub(super) fn line_of_key(text: &str, key: &str) -> usize {
    let found = text.lines().position(|line| {
        let rest = line.strip_prefix(key).unwrap_or("x");
        rest.trim_start().starts_with(['=', '.'])
    });
    found.map_or(1, |index| index + 1)
}

pub(super) fn check(tree: &Tree, _: &Exceptions) -> Vec<Finding> {
    Manifest::all(tree).iter().flat_map(check_manifest).collect()
}

fn check_manifest(manifest: &Manifest<'_>) -> Vec<Finding> {
    let lints = manifest.table.get("lints").and_then(|lints| lints.get("workspace"));
    let folder = manifest.path.strip_suffix("/Cargo.toml").unwrap_or_default();
    let folder = folder.rsplit('/').next().unwrap_or_default();
    let rules = [
        (
            lints.and_then(Value::as_bool) == Some(true),
            "inherit the lints: `[lints] workspace = true`",
        ),
        (manifest.has_package_field("description"), "give the package a description"),
        (manifest.has_package_field("license"), "give the package a license"),
        (manifest.name == folder, "name the package like its folder"),
    ];
    let broken = rules.into_iter().filter(|(holds, _)| !holds);
    let mut findings: Vec<Finding> =
        broken.map(|(_, message)| Finding::new(manifest.path, 1, message)).collect();
    let own = manifest.dependencies().into_iter().filter(|d| !d.inherited && !d.local);
    findings.extend(own.map(|d| {
        let message = format!("take `{}` from [workspace.dependencies]", d.name);
        Finding::new(manifest.path, d.line, message)
    }));
    findings
}

#[cfg(test)]
mod tests {
    use super::super::{exceptions::NONE, messages};
    use super::*;

    const CLEAN: &str = "[package]\nname = \"a\"\ndescription = \"A\"\nlicense.workspace = true\n\
        [lints]\nworkspace = true\n[dependencies]\nclap.workspace = true\n";

    fn found(text: &str) -> Vec<String> {
        messages(check, &NONE, &[("crates/a/Cargo.toml", text)])
    }

    #[test]
    fn crates_describe_themselves() {
        assert!(found(CLEAN).is_empty());
        for (from, to, message) in [
            ("[lints]\nworkspace = true", "", "1: inherit the lints: `[lints] workspace = true`"),
            ("description = \"A\"", "", "1: give the package a description"),
            ("description = \"A\"", "description = \"\"", "1: give the package a description"),
            ("license.workspace = true", "", "1: give the package a license"),
            ("name = \"a\"", "name = \"b\"", "1: name the package like its folder"),
            (
                "clap.workspace = true",
                "clap = \"4\"",
                "8: take `clap` from [workspace.dependencies]",
            ),
        ] {
            let text = CLEAN.replace(from, to);
            assert_eq!(found(&text), [format!("crates/a/Cargo.toml:{message}")], "{text}");
        }
    }

    #[test]
    fn a_workspace_of_its_own_is_left_alone() {
        assert!(!found("[package]\nname = \"b\"\n").is_empty());
        assert!(found("[package]\nname = \"b\"\n[workspace]\n").is_empty());
    }

    #[test]
    fn dependencies_of_every_kind_are_seen() {
        let text = "[package]\nname = \"a\"\n[dev-dependencies]\nb = { workspace = true }\n\
            [target.'cfg(unix)'.dependencies]\nc = { package = \"d\", path = \"../d\" }\n";
        let tree = Tree::of(&[("crates/a/Cargo.toml", text)]);
        let all = Manifest::all(&tree)[0].dependencies();
        let b = Dependency {
            name: "b".into(),
            need: Need::Dev,
            inherited: true,
            local: false,
            line: 4,
        };
        let d = Dependency {
            name: "d".into(),
            need: Need::Build,
            inherited: false,
            local: true,
            line: 6,
        };
        assert_eq!(all, [b, d]);
    }
}
