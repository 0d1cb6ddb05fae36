//! The front page: the README has its two commands, the CHANGELOG a place for the next release.
//!
//! CI runs both commands, so a newcomer who copies them gets what CI saw.

use super::Finding;
use super::exceptions::Exceptions;
use super::tree::Tree;

const COMMANDS: [&str; 2] = ["cargo run --release -- demo", "cargo test"];

pub(super) fn check(tree: &Tree, _: &Exceptions) -> Vec<Finding> {
    let readme = tree.text("README.md").unwrap_or_default();
    let missing = COMMANDS.iter().filter(|command| !readme.lines().any(|line| line == **command));
    let mut findings: Vec<Finding> = missing
        .map(|command| format!("give `{command}` a line of its own"))
        .map(|message| Finding::new("README.md", 1, message))
        .collect();
    let changelog = tree.text("CHANGELOG.md").unwrap_or_default();
    if !changelog.lines().any(|line| line.starts_with('#') && line.contains("Unreleased")) {
        findings.push(Finding::new("CHANGELOG.md", 1, "needs a heading `Unreleased`"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::{exceptions::NONE, messages};
    use super::check;

    #[test]
    fn both_pages_are_whole() {
        let readme = ("README.md", "```sh\ncargo run --release -- demo\ncargo test\n```\n");
        let changelog = ("CHANGELOG.md", "# Changes\n\n## [Unreleased]\n");
        assert!(messages(check, &NONE, &[readme, changelog]).is_empty());
        let wordy = ("README.md", "Run `cargo test`.\ncargo run --release -- demo\n");
        let old = ("CHANGELOG.md", "## 1.0\n\nUnreleased\n");
        assert_eq!(
            messages(check, &NONE, &[wordy, old]),
            [
                "README.md:1: give `cargo test` a line of its own",
                "CHANGELOG.md:1: needs a heading `Unreleased`"
            ]
        );
        assert_eq!(messages(check, &NONE, &[]).len(), 3);
    }
}
