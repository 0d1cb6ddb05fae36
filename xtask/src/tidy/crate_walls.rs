//! The crate walls: who may depend on whom, as `ARCHITECTURE.md` draws it.
//!
//! An arrow that is not drawn is a finding. Other engines are dependencies of
//! `hopdb-bench-peers` alone, and that crate is outside the default members.

use super::Finding;
use super::exceptions::Exceptions;
use super::manifest::{Dependency, Manifest, Need, line_of_key};
use super::tree::Tree;

/// Who may depend on which crates of this repository.
const ARROWS: [(&str, &[&str]); 10] = [
    ("hopdb-storage", &[]),
    ("hopdb-graph", &["hopdb-storage"]),
    ("hopdb-cypher", &[]),
    ("hopdb-query", &["hopdb-cypher", "hopdb-graph"]),
    ("hopdb", &["hopdb-query", "hopdb-graph", "hopdb-storage"]),
    ("hopdb-server", &["hopdb"]),
    ("hopdb-columnar", &["hopdb"]),
    ("hopdb-cli", &["hopdb", "hopdb-columnar", "hopdb-server"]),
    ("hopdb-python", &["hopdb"]),
    ("hopdb-testkit", &["hopdb-graph", "hopdb-storage"]),
];

/// Programs for developers, which may use every crate here.
const FREE: [&str; 3] = ["hopdb-bench", PEERS_CRATE, "xtask"];

const TESTKIT: &str = "hopdb-testkit";
const PEERS_CRATE: &str = "hopdb-bench-peers";

/// Other engines, and clients and bindings of them.
const PEERS: [&str; 24] = [
    "canopydb",
    "cozo",
    "duckdb",
    "fjall",
    "heed",
    "jammdb",
    "kuzu",
    "lbug",
    "libmdbx",
    "libsqlite3-sys",
    "lmdb",
    "lmdb-rkv",
    "native_db",
    "neo4rs",
    "nebari",
    "oxigraph",
    "persy",
    "redb",
    "rocksdb",
    "rusqlite",
    "sled",
    "sqlite",
    "surrealdb",
    "turso",
];

pub(super) fn check(tree: &Tree, _: &Exceptions) -> Vec<Finding> {
    let manifests = Manifest::all(tree);
    let names: Vec<&str> = manifests.iter().map(|manifest| manifest.name.as_str()).collect();
    let walls = manifests.iter().flat_map(|manifest| check_crate(manifest, &names));
    walls.chain(check_default_members(tree)).collect()
}

fn check_crate(manifest: &Manifest<'_>, names: &[&str]) -> Vec<Finding> {
    let own = manifest.name.as_str();
    let arrows = ARROWS.iter().find(|(name, _)| *name == own).map(|(_, to)| *to);
    if arrows.is_none() && !FREE.contains(&own) {
        return vec![Finding::new(manifest.path, 1, format!("`{own}` has no arrows drawn"))];
    }
    let forbidden = |dependency: &Dependency| {
        let to = dependency.name.as_str();
        if PEERS.contains(&to) && own != PEERS_CRATE {
            return Some(format!("`{to}` is another engine: only `{PEERS_CRATE}` may use it"));
        }
        if !names.contains(&to) || to == own {
            return None;
        }
        let drawn = arrows.is_none_or(|arrows| arrows.contains(&to));
        let testing = to == TESTKIT && dependency.need == Need::Dev;
        (!drawn && !testing).then(|| format!("`{own}` may not depend on `{to}`: no arrow is drawn"))
    };
    let dependencies = manifest.dependencies();
    dependencies
        .iter()
        .filter_map(|d| Some(Finding::new(manifest.path, d.line, forbidden(d)?)))
        .collect()
}

fn check_default_members(tree: &Tree) -> Option<Finding> {
    let text = tree.text("Cargo.toml")?;
    let table: toml::Table = text.parse().ok()?;
    let members = table.get("workspace")?.get("default-members")?.as_array()?;
    let is_peers =
        |member: &toml::Value| member.as_str().is_some_and(|member| member.ends_with(PEERS_CRATE));
    let line = line_of_key(text, "default-members");
    let message = format!("`{PEERS_CRATE}` is no default member: other engines take long to build");
    members.iter().any(is_peers).then(|| Finding::new("Cargo.toml", line, message))
}

#[cfg(test)]
mod tests {
    use super::super::{exceptions::NONE, messages};
    use super::check;

    fn found(name: &str, dependencies: &str) -> Vec<String> {
        let others = ["hopdb-storage", "hopdb-graph", "hopdb", "hopdb-testkit"];
        let package = |name: &str| format!("[package]\nname = \"{name}\"\n");
        let mut files: Vec<(String, String)> = others
            .iter()
            .map(|other| (format!("crates/{other}/Cargo.toml"), package(other)))
            .collect();
        files.retain(|(path, _)| *path != format!("crates/{name}/Cargo.toml"));
        files.push((format!("crates/{name}/Cargo.toml"), package(name) + dependencies));
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        messages(check, &NONE, &files)
    }

    #[test]
    fn drawn_arrows_are_free() {
        let dev = "[dev-dependencies]\nhopdb-testkit.workspace = true\n";
        assert!(
            found("hopdb-graph", &format!("[dependencies]\nhopdb-storage.workspace = true\n{dev}"))
                .is_empty()
        );
        assert!(
            found("hopdb-bench", "[dependencies]\nhopdb-storage.workspace = true\n").is_empty()
        );
        assert!(
            found("hopdb-bench-peers", "[dependencies]\nrusqlite.workspace = true\n").is_empty()
        );
    }

    #[test]
    fn other_arrows_are_found() {
        let path = "crates/hopdb-cli/Cargo.toml";
        assert_eq!(
            found(
                "hopdb-cli",
                "[dependencies]\nhopdb.workspace = true\nhopdb-graph.workspace = true\n"
            ),
            [format!("{path}:5: `hopdb-cli` may not depend on `hopdb-graph`: no arrow is drawn")]
        );
        assert_eq!(found("hopdb-storage", "[dev-dependencies]\nhopdb.workspace = true\n").len(), 1);
        assert_eq!(
            found("hopdb-storage", "[dependencies]\nhopdb-testkit.workspace = true\n").len(),
            1
        );
        assert_eq!(
            found("hopdb-new", ""),
            ["crates/hopdb-new/Cargo.toml:1: `hopdb-new` has no arrows drawn"]
        );
    }

    #[test]
    fn peers_stay_outside() {
        let redb = found("hopdb-bench", "[dev-dependencies]\nredb.workspace = true\n");
        assert_eq!(
            redb,
            [
                "crates/hopdb-bench/Cargo.toml:4: `redb` is another engine: only `hopdb-bench-peers` may use it"
            ]
        );
        let root = "[workspace]\ndefault-members = [\"crates/hopdb-bench-peers\"]\n";
        assert_eq!(messages(check, &NONE, &[("Cargo.toml", root)]).len(), 1);
        let root = root.replace("-peers", "");
        assert!(messages(check, &NONE, &[("Cargo.toml", &root)]).is_empty());
    }
}
