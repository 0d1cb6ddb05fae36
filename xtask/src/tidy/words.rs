//! Banned words: one concept has one word, and the project speaks of nothing but itself.
//!
//! Words are read in prose and inside identifiers alike: `EdgeId` and `edge_count` hold `edge`,
//! `knowledge` does not. Licences, `Cargo.lock` and files that are no text are not read.

use super::Finding;
use super::exceptions::{ANY_WORD, Exceptions, WordException};
use super::lexer::{is_word, tokens};
use super::tree::Tree;

/// What a rule looks for.
enum Pattern {
    /// One of these words, in lower case; the text may have it in any case.
    Words(&'static [&'static str]),
    /// One of these words, letter by letter.
    Exactly(&'static [&'static str]),
    /// One of these texts, anywhere.
    Texts(&'static [&'static str]),
    /// A path below one of these folders of a machine's root.
    MachinePath(&'static [&'static str]),
    /// One of these words, then a number.
    Numbered(&'static [&'static str]),
}

/// Where a rule holds.
enum Scope {
    Everywhere,
    /// Documents only.
    Documents,
    /// Not in the adapters to other engines, which have words of their own.
    OutsidePeers,
}

struct Rule {
    /// The name that an exception gives.
    name: &'static str,
    pattern: Pattern,
    scope: Scope,
    /// Why, and what to write instead.
    advice: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        name: "edge",
        pattern: Pattern::Words(&["edge", "edges"]),
        scope: Scope::OutsidePeers,
        advice: "the graph's word is `relationship`; elsewhere write `corner case`, `border`, `end`",
    },
    Rule {
        name: "vertex",
        pattern: Pattern::Words(&["vertex", "vertexes", "vertices"]),
        scope: Scope::OutsidePeers,
        advice: "the graph's word is `node`",
    },
    Rule {
        name: "pgno",
        pattern: Pattern::Words(&["pgno"]),
        scope: Scope::Everywhere,
        advice: "the word is `PageId`, `page_id`",
    },
    Rule {
        name: "unfinished",
        pattern: Pattern::Exactly(&["TODO", "FIXME", "XXX"]),
        scope: Scope::Everywhere,
        advice: "finish it, or say in a sentence what does not work yet",
    },
    Rule {
        name: "issue",
        pattern: Pattern::Numbered(&["issue", "issues"]),
        scope: Scope::Everywhere,
        advice: "numbers of a tracker mean nothing to a reader: write the reason itself",
    },
    Rule {
        name: "session of work",
        pattern: Pattern::Texts(&["session of work", "work session", "working session"]),
        scope: Scope::Everywhere,
        advice: "the project speaks of itself, not of how it was written",
    },
    Rule {
        name: "prompt",
        pattern: Pattern::Words(&["prompt", "prompts"]),
        scope: Scope::Documents,
        advice: "say what the user types, or `the shell's input line`",
    },
    Rule {
        name: "machine path",
        pattern: Pattern::MachinePath(&["home", "root", "work", "Users"]),
        scope: Scope::Everywhere,
        advice: "a path of one machine: write it from the root of the checkout",
    },
    Rule {
        name: "registry host",
        pattern: Pattern::Texts(&["crates.io", "pypi.org", "npmjs", "deb.debian.org"]),
        scope: Scope::Everywhere,
        advice: "name the package, not the host: a machine may use a mirror",
    },
];

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 4] = ["util", "utils", "helper", "helpers"];

const TYPE_WORDS: [&str; 5] = ["struct", "enum", "trait", "type", "union"];

/// A finding, and the rule that an exception would name.
struct Hit {
    rule: &'static str,
    finding: Finding,
}

pub(super) fn check(tree: &Tree, exceptions: &Exceptions) -> Vec<Finding> {
    let hits: Vec<Hit> = tree
        .texts()
        .filter(|(path, _)| !is_exempt(path))
        .flat_map(|(path, text)| hits(tree, path, text))
        .collect();
    let excuses = |exception: &WordException, hit: &Hit| {
        let word = exception.word;
        exception.path == hit.finding.path && (word == ANY_WORD || word == hit.rule)
    };
    let unused = exceptions
        .words
        .iter()
        .filter(|exception| !hits.iter().any(|hit| excuses(exception, hit)))
        .map(|exception| {
            let WordException { path, word, reason } = exception;
            let message =
                format!("the exception for `{word}` (\"{reason}\") excuses nothing: take it out");
            Finding::new(path, 1, message)
        });
    let kept = hits.iter().filter(|hit| !exceptions.words.iter().any(|e| excuses(e, hit)));
    kept.map(|hit| hit.finding.clone()).chain(unused).collect()
}

fn is_exempt(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == "Cargo.lock" || name.starts_with("LICENSE")
}

fn hits(tree: &Tree, path: &str, text: &str) -> Vec<Hit> {
    let mut hits = Vec::new();
    let rules: Vec<&Rule> = RULES.iter().filter(|rule| holds(&rule.scope, path)).collect();
    let lines = std::iter::once((1, path)).chain(text.lines().enumerate().map(|(i, l)| (i + 1, l)));
    for (line, text) in lines {
        let words = words(text);
        for rule in &rules {
            if let Some(found) = find(&rule.pattern, text, &words) {
                let message = format!("`{found}`: {}", rule.advice);
                hits.push(Hit { rule: rule.name, finding: Finding::new(path, line, message) });
            }
        }
    }
    hits.extend(empty_file_name(path));
    hits.extend(declared_names(tree, path));
    hits
}

fn holds(scope: &Scope, path: &str) -> bool {
    match scope {
        Scope::Everywhere => true,
        Scope::Documents => path.ends_with(".md"),
        Scope::OutsidePeers => !path.starts_with("crates/hopdb-bench-peers/"),
    }
}

/// What `pattern` finds first in a line that has these words.
fn find<'l>(pattern: &Pattern, line: &'l str, words: &[&'l str]) -> Option<&'l str> {
    let word = |matches: &dyn Fn(&str) -> bool| words.iter().copied().find(|word| matches(word));
    match pattern {
        Pattern::Words(list) => word(&|word| list.contains(&word.to_lowercase().as_str())),
        Pattern::Exactly(list) => word(&|word| list.contains(&word)),
        Pattern::Texts(list) => list.iter().copied().find(|text| line.contains(text)),
        Pattern::MachinePath(roots) => roots.iter().copied().find(|root| has_path(line, root)),
        Pattern::Numbered(list) => has_numbered(line, list),
    }
}

/// Whether `line` has `/root/` where a path starts.
fn has_path(line: &str, root: &str) -> bool {
    line.match_indices(&format!("/{root}/")).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !is_word(c) && !"./-}".contains(c))
    })
}

/// The word of `list` in `line` that a number follows, with or without `#`.
fn has_numbered<'l>(line: &'l str, list: &[&str]) -> Option<&'l str> {
    let mut parts = line.split_whitespace();
    let mut before = parts.next()?;
    for part in parts {
        let word = before.trim_start_matches(|c| !is_word(c));
        let number = part.strip_prefix('#').unwrap_or(part);
        if list.contains(&word.to_lowercase().as_str())
            && number.starts_with(|c: char| c.is_ascii_digit())
        {
            return Some(word);
        }
        before = part;
    }
    None
}

/// The words of `line`, identifiers taken apart: `PageId`, `page_id` and `page id` are two each.
fn words(line: &str) -> Vec<&str> {
    line.split(|c: char| !c.is_alphanumeric())
        .flat_map(humps)
        .filter(|word| !word.is_empty())
        .collect()
}

/// Cuts before a capital after a small letter, and before the last capital of several when a
/// small letter follows.
fn humps(word: &str) -> Vec<&str> {
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    let mut humps = Vec::new();
    let mut start = 0;
    for index in 1..chars.len() {
        let (at, here) = chars[index];
        let small_before = !chars[index - 1].1.is_uppercase();
        let small_after = chars.get(index + 1).is_some_and(|(_, c)| c.is_lowercase());
        if here.is_uppercase() && (small_before || small_after) {
            humps.push(&word[start..at]);
            start = at;
        }
    }
    humps.push(&word[start..]);
    humps
}

fn is_empty_name(name: &str) -> bool {
    words(name).iter().any(|word| EMPTY_NAMES.contains(&word.to_lowercase().as_str()))
}

fn empty_file_name(path: &str) -> Option<Hit> {
    let message = "this name says nothing: name the file after what is inside";
    is_empty_name(path).then(|| Hit { rule: "empty name", finding: Finding::new(path, 1, message) })
}

/// Modules and types of a Rust file whose names say nothing.
fn declared_names(tree: &Tree, path: &str) -> Vec<Hit> {
    let Some(source) = tree.source(path) else { return Vec::new() };
    let tokens = tokens(source.code());
    let declared = tokens.windows(2).filter_map(|pair| {
        let (keyword, name) = (pair[0].text, pair[1].text);
        let rule = if keyword == "mod" && is_empty_name(name) {
            "empty name"
        } else if TYPE_WORDS.contains(&keyword) && words(name).contains(&"Manager") {
            "Manager"
        } else {
            return None;
        };
        let message = format!("`{name}` says nothing: name it after what it does");
        Some(Hit { rule, finding: Finding::new(path, source.line(pair[1].offset), message) })
    });
    declared.collect()
}

#[cfg(test)]
mod tests {
    use super::super::exceptions::NONE;
    use super::super::messages;
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        messages(check, &NONE, &[(path, text)])
    }

    #[test]
    fn words_are_taken_from_identifiers() {
        assert_eq!(
            words("PageId page_id, HTTPEdge2 x"),
            ["Page", "Id", "page", "id", "HTTP", "Edge2", "x"]
        );
        assert_eq!(words("TODO(me): XXXX"), ["TODO", "me", "XXXX"]);
    }

    #[test]
    fn banned_words_are_found() {
        for text in [
            "an Edge case",
            "let edge_count = 1;",
            "struct EdgeId;",
            "EDGES",
            "two vertices",
            "pgno",
            "// TODO: later",
            "FIXME",
            "see issue 2",
            "(Issue #12)",
            "in a session of work",
            "cd /home/me",
            "\"/work/x\"",
            "from crates.io",
            "struct PageManager;",
            "mod util;",
            "mod test_helpers {}",
            "enum Manager {}",
        ] {
            assert_eq!(found("a.rs", text).len(), 1, "{text}");
        }
    }

    #[test]
    fn other_words_are_clean() {
        for text in [
            "knowledge of hedges",
            "todo = \"warn\"",
            "mktemp x.XXXXXX",
            "an issue of 2 kinds",
            "issue by 3 people",
            "a/home/b",
            "./work/x",
            "https://example.org/work/x",
            "let helper = 1;",
            "use x::ConnectionManager;",
            "// the prompt",
            "\"struct XManager\"",
        ] {
            assert_eq!(found("a.rs", text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn scopes_hold() {
        assert_eq!(found("a.md", "two prompts").len(), 1);
        assert!(found("a.md", "done promptly").is_empty());
        assert!(found("crates/hopdb-bench-peers/src/main.rs", "edges").is_empty());
        assert!(found("Cargo.lock", "crates.io").is_empty());
        assert!(found("LICENSE-MIT", "edge").is_empty());
        assert_eq!(found("src/page_utils.rs", "").len(), 1);
    }

    #[test]
    fn the_message_says_what_to_write() {
        assert_eq!(found("a.md", "x\na vertex"), ["a.md:2: `vertex`: the graph's word is `node`"]);
    }

    #[test]
    fn exceptions_are_exact() {
        const ALLOWED: Exceptions = Exceptions {
            words: &[WordException { path: "a.md", word: "edge", reason: "a title" }],
            ..NONE
        };
        assert!(messages(check, &ALLOWED, &[("a.md", "edge")]).is_empty());
        assert_eq!(messages(check, &ALLOWED, &[("a.md", "edge, vertex")]).len(), 1);
        assert_eq!(
            messages(check, &ALLOWED, &[("a.md", "clean")]),
            ["a.md:1: the exception for `edge` (\"a title\") excuses nothing: take it out"]
        );
    }
}
