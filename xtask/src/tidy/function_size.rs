//! Function sizes: nine of ten have at most 30 lines, over the whole workspace and without tests.
//!
//! The hard stop at 70 lines is clippy's `too_many_lines`.

use std::fmt;

use super::Finding;
use super::exceptions::Exceptions;
use super::lexer::{Token, closing, tokens};
use super::source::Source;
use super::tree::Tree;

const P90_MAX: usize = 30;

/// A function with a body; lines from `fn` to the closing brace.
struct Function {
    path: String,
    line: usize,
    lines: usize,
}

/// How long the functions of the workspace are, in lines.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lengths {
    functions: usize,
    p50: usize,
    p90: usize,
    longest: usize,
}

impl Lengths {
    pub(super) fn of(tree: &Tree) -> Self {
        Self::new(&functions(tree))
    }

    fn new(functions: &[Function]) -> Self {
        let mut lines: Vec<usize> = functions.iter().map(|function| function.lines).collect();
        lines.sort_unstable();
        // The smallest length that at least this share of the functions does not exceed.
        let rank = |percent: usize| (lines.len() * percent).div_ceil(100).saturating_sub(1);
        let at = |percent: usize| lines.get(rank(percent)).copied().unwrap_or_default();
        Self { functions: lines.len(), p50: at(50), p90: at(90), longest: at(100) }
    }
}

impl fmt::Display for Lengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { functions, p50, p90, longest } = self;
        write!(f, "{functions} functions, lines p50 {p50}, p90 {p90}, longest {longest}")
    }
}

pub(super) fn check(tree: &Tree, _: &Exceptions) -> Vec<Finding> {
    let functions = functions(tree);
    let Lengths { p90, .. } = Lengths::new(&functions);
    let Some(longest) = functions.iter().max_by_key(|function| function.lines) else {
        return Vec::new();
    };
    if p90 <= P90_MAX {
        return Vec::new();
    }
    let lines = longest.lines;
    let message =
        format!("one function of ten is over {P90_MAX} lines (p90 is {p90}); this one has {lines}");
    vec![Finding::new(&longest.path, longest.line, message)]
}

fn functions(tree: &Tree) -> Vec<Function> {
    tree.sources().flat_map(|(path, source)| functions_of(path, source)).collect()
}

fn functions_of(path: &str, source: &Source) -> Vec<Function> {
    let tokens = tokens(source.code_without_tests());
    let names = tokens.windows(2).enumerate();
    names
        .filter(|(_, pair)| pair[0].text == "fn" && pair[1].is_word())
        .filter_map(|(at, _)| {
            let line = source.line(tokens[at].offset);
            let end = source.line(tokens[body_end(&tokens, at)?].offset);
            Some(Function { path: path.to_owned(), line, lines: end - line + 1 })
        })
        .collect()
}

/// The index of the brace that closes the body of the function at `at`, if it has a body.
fn body_end(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let mut at = at;
    loop {
        match tokens.get(at)?.text {
            "(" | "[" => at = closing(tokens, at) + 1,
            "{" => return Some(closing(tokens, at)),
            ";" => return None,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{exceptions::NONE, messages};
    use super::*;

    fn function(lines: usize) -> String {
        format!("fn f(a: [u8; 2]) {{\n{}}}\n", "    a;\n".repeat(lines - 2))
    }

    #[test]
    fn one_in_ten_may_be_long() {
        let nine_short = function(30).repeat(9) + &function(60);
        assert!(messages(check, &NONE, &[("a.rs", &nine_short)]).is_empty());
        let two_long = function(30).repeat(8) + &function(31) + &function(60);
        assert_eq!(
            messages(check, &NONE, &[("a.rs", &two_long)]),
            ["a.rs:272: one function of ten is over 30 lines (p90 is 31); this one has 60"]
        );
    }

    #[test]
    fn only_bodies_outside_tests_count() {
        let text = "trait T { fn a(); }\ntype F = fn(u8);\nfn b() {}\n#[test]\nfn c() {\n}\n";
        let lengths = Lengths::of(&Tree::of(&[("a.rs", text)]));
        assert_eq!(lengths, Lengths { functions: 1, p50: 1, p90: 1, longest: 1 });
        assert_eq!(Lengths::of(&Tree::of(&[])).functions, 0);
    }
}
