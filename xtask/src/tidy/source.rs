//! One Rust source file: its code, and which parts of it are tests.
//!
//! Tests are files named `tests.rs`, files under a `tests` folder, and items under
//! `#[cfg(test)]` or `#[test]`.

use std::ops::Range;

use super::lexer::{Token, blank, closing, push_blank, tokens};

/// The starts of an attribute that makes the next item a test.
const TEST_MARKS: [&[&str]; 3] = [
    &["#", "[", "cfg", "(", "test", ")"],
    &["#", "[", "cfg", "(", "all", "(", "test"],
    &["#", "[", "test", "]"],
];

/// The words an item starts with. What starts otherwise is a field, a variant or an arm.
const ITEM_WORDS: [&str; 16] = [
    "async",
    "const",
    "enum",
    "extern",
    "fn",
    "impl",
    "let",
    "macro_rules",
    "mod",
    "static",
    "struct",
    "trait",
    "type",
    "union",
    "unsafe",
    "use",
];

/// A Rust file, blanked.
pub(super) struct Source {
    code: String,
    code_without_tests: String,
    line_starts: Vec<usize>,
    lines_without_tests: usize,
}

impl Source {
    /// Reads `text`, the file at `path`.
    pub(super) fn new(path: &str, text: &str) -> Self {
        let code = blank(text);
        let whole = is_test_path(path).then_some(0..code.len());
        let tests = whole.map_or_else(|| test_parts(&code), |all| Vec::from([all]));
        let line_starts: Vec<usize> =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let line = |offset: usize| line_starts.partition_point(|start| *start <= offset);
        let test_lines: usize = tests
            .iter()
            .filter(|part| !part.is_empty())
            .map(|part| line(part.end - 1) - line(part.start) + 1)
            .sum();
        let lines_without_tests = text.lines().count().saturating_sub(test_lines);
        let code_without_tests = without(&code, &tests);
        Self { code, code_without_tests, line_starts, lines_without_tests }
    }

    /// The text with comments and literals blanked; offsets are those of the text.
    pub(super) fn code(&self) -> &str {
        &self.code
    }

    /// The code with its tests blanked too; offsets are those of the text.
    pub(super) fn code_without_tests(&self) -> &str {
        &self.code_without_tests
    }

    /// How many lines the file has outside its tests.
    pub(super) fn lines_without_tests(&self) -> usize {
        self.lines_without_tests
    }

    /// The line of the byte at `offset`; the first line is 1.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset)
    }
}

fn is_test_path(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.starts_with("tests/") || path.contains("/tests/")
}

/// The byte ranges of the test items in `code`, in order.
fn test_parts(code: &str) -> Vec<Range<usize>> {
    let tokens = tokens(code);
    let mut parts = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if TEST_MARKS.iter().any(|mark| starts_with(&tokens[at..], mark)) {
            let end = item_end(&tokens, at);
            parts.push(tokens[at].offset..tokens[end].end());
            at = end + 1;
        } else {
            at += 1;
        }
    }
    parts
}

fn starts_with(tokens: &[Token<'_>], texts: &[&str]) -> bool {
    tokens.len() >= texts.len() && tokens.iter().zip(texts).all(|(token, text)| token.text == *text)
}

/// The index of the last token of the item whose first attribute is at `at`.
fn item_end(tokens: &[Token<'_>], at: usize) -> usize {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let mut at = at;
    while text(at) == "#" {
        at = closing(tokens, at + 1) + 1;
    }
    if text(at) == "pub" {
        at = if text(at + 1) == "(" { closing(tokens, at + 1) + 1 } else { at + 1 };
    }
    let is_item = ITEM_WORDS.contains(&text(at)) || text(at + 1) == "!";
    while at < tokens.len() {
        match text(at) {
            "{" if is_item => return closing(tokens, at),
            "{" | "(" | "[" => at = closing(tokens, at) + 1,
            ";" => return at,
            "," if !is_item => return at,
            "}" | ")" | "]" => return at - 1,
            _ => at += 1,
        }
    }
    tokens.len() - 1
}

fn without(code: &str, parts: &[Range<usize>]) -> String {
    let mut kept = String::with_capacity(code.len());
    let mut at = 0;
    for part in parts {
        kept.push_str(&code[at..part.start]);
        push_blank(&mut kept, &code[part.clone()]);
        at = part.end;
    }
    kept.push_str(&code[at..]);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> String {
        let source = Source::new("src/a.rs", text);
        source.code_without_tests().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn test_items_are_left_out() {
        assert_eq!(kept("fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() {}\n}\n"), "fn a() {}");
        assert_eq!(kept("#[cfg(test)] mod tests; fn a() {}"), "fn a() {}");
        assert_eq!(kept("#[test] #[should_panic] fn b() -> [u8; 2] { x; } fn a() {}"), "fn a() {}");
        assert_eq!(kept("#[cfg(test)] proptest! { fn b() {} } fn a() {}"), "fn a() {}");
        assert_eq!(
            kept("#[cfg(any(test, debug))] fn a() {}"),
            "#[cfg(any(test, debug))] fn a() {}"
        );
    }

    #[test]
    fn test_fields_are_left_out() {
        let text = "struct S { a: u8, #[cfg(test)] pub(super) b: Vec<u8>, c: u8 }";
        assert_eq!(kept(text), "struct S { a: u8, c: u8 }");
        assert_eq!(kept("S { a: 1, #[cfg(test)] b: f(1, 2) }"), "S { a: 1, }");
    }

    #[test]
    fn lines_count_without_tests() {
        let text = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n}\n";
        assert_eq!(Source::new("src/a.rs", text).lines_without_tests(), 2);
        assert_eq!(Source::new("src/a/tests.rs", text).lines_without_tests(), 0);
        assert_eq!(Source::new("src/a.rs", "").lines_without_tests(), 0);
    }

    #[test]
    fn offsets_give_lines() {
        let source = Source::new("src/a.rs", "a\nb\n");
        assert_eq!([0, 1, 2, 3, 4].map(|at| source.line(at)), [1, 1, 2, 2, 3]);
    }
}
