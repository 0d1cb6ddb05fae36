//! The modules of `hopdb-storage` have an order, and each uses only itself and those before it.
//!
//! Paths from the root are read outside tests and comments: `crate::…` and `super::…`, with
//! their groups multiplied out. `lib.rs` is free. A name that `lib.rs` re-exports hides its
//! module, so inside the crate it is written with the module.

use super::Finding;
use super::exceptions::Exceptions;
use super::lexer::{Token, closing, tokens};
use super::source::Source;
use super::tree::Tree;

const FOLDER: &str = "crates/hopdb-storage/src/";

/// Low to high.
const ORDER: [&str; 17] = [
    "sync", "mutants", "error", "io", "codec", "page", "wal", "pager", "scratch", "buffer",
    "btree", "radix", "txn", "recovery", "check", "store", "inspect",
];

pub(super) fn check(tree: &Tree, _: &Exceptions) -> Vec<Finding> {
    let files = tree.sources().filter_map(|(path, source)| {
        let name = path.strip_prefix(FOLDER)?.strip_suffix(".rs")?;
        (name != "lib").then_some((path, name, source))
    });
    files.flat_map(|(path, name, source)| check_file(path, name, source)).collect()
}

fn check_file(path: &str, name: &str, source: &Source) -> Vec<Finding> {
    let module: Vec<&str> = name.strip_suffix("/mod").unwrap_or(name).split('/').collect();
    let Some(own) = rank(module[0]) else {
        let message = format!("module `{}` has no place in the order {ORDER:?}", module[0]);
        return vec![Finding::new(path, 1, message)];
    };
    let uses = uses(source.code_without_tests(), &module);
    uses.iter()
        .filter_map(|(offset, used)| {
            let message = match rank(used) {
                Some(used) if used <= own => return None,
                Some(_) => {
                    format!("`{}` may not use `{used}`: it comes later in the order", module[0])
                }
                None => format!(
                    "`crate::{used}` does not say its module: write `crate::module::{used}`"
                ),
            };
            Some(Finding::new(path, source.line(*offset), message))
        })
        .collect()
}

fn rank(module: &str) -> Option<usize> {
    ORDER.iter().position(|name| *name == module)
}

/// The first name below the root of each path in `code`, with the offset of the path.
fn uses<'c>(code: &'c str, module: &[&'c str]) -> Vec<(usize, &'c str)> {
    let tokens = tokens(code);
    let inline = inline_modules(&tokens);
    let mut uses = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let starts = ["crate", "super"].contains(&tokens[at].text);
        if !starts || tokens.get(at + 1).is_none_or(|next| next.text != "::") {
            at += 1;
            continue;
        }
        let offset = tokens[at].offset;
        let around = inline.iter().filter(|(_, open, close)| (*open..*close).contains(&offset));
        let here: Vec<&str> =
            module.iter().copied().chain(around.map(|(name, ..)| *name)).collect();
        let mut paths = Vec::new();
        at = read_path(&tokens, at, Vec::new(), &mut paths);
        uses.extend(paths.iter().filter_map(|path| Some((offset, resolve(path, &here)?))));
    }
    uses
}

/// The modules written inside the file: name, and the offsets of their braces.
fn inline_modules<'c>(tokens: &[Token<'c>]) -> Vec<(&'c str, usize, usize)> {
    tokens
        .windows(3)
        .enumerate()
        .filter(|(_, three)| three[0].text == "mod" && three[2].text == "{")
        .map(|(at, three)| (three[1].text, three[2].offset, tokens[closing(tokens, at + 2)].offset))
        .collect()
}

/// Adds the paths that start at `at`, below `path`, and gives the index after them.
fn read_path<'c>(
    tokens: &[Token<'c>],
    at: usize,
    path: Vec<&'c str>,
    paths: &mut Vec<Vec<&'c str>>,
) -> usize {
    let (mut at, mut path) = (at, path);
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    loop {
        if text(at) == "{" {
            let close = closing(tokens, at);
            at += 1;
            while at < close {
                at = read_path(tokens, at, path.clone(), paths) + 1;
            }
            return close + 1;
        }
        if text(at) != "*" && !tokens.get(at).is_some_and(Token::is_word) {
            break;
        }
        path.push(text(at));
        at += 1;
        if text(at) != "::" {
            break;
        }
        at += 1;
    }
    paths.push(path);
    // The comma of a group follows, or `as name` before it.
    if text(at) == "as" { at + 2 } else { at }
}

/// The name below the root that `path`, written in module `here`, goes through.
fn resolve<'c>(path: &[&'c str], here: &[&'c str]) -> Option<&'c str> {
    let mut full = here.to_vec();
    for segment in path {
        match *segment {
            "crate" => full.clear(),
            "super" => drop(full.pop()),
            "self" => {}
            name => full.push(name),
        }
    }
    full.first().copied()
}

#[cfg(test)]
mod tests {
    use super::super::{exceptions::NONE, messages};
    use super::check;

    fn found(name: &str, text: &str) -> Vec<String> {
        let path = format!("crates/hopdb-storage/src/{name}");
        messages(check, &NONE, &[(&path, text)])
            .iter()
            .map(|message| message.trim_start_matches("crates/hopdb-storage/src/").to_owned())
            .collect()
    }

    #[test]
    fn earlier_modules_may_be_used() {
        let text = "use crate::page::PageId;\nuse crate::{io, error::{Error, Result}};\nfn f() { crate::wal::g::<u8>(); }\npub(crate) mod x;\nuse super::cell::Cell;\nuse super::super::pager;";
        assert!(found("btree/cursor.rs", text).is_empty());
        assert!(found("lib.rs", "use crate::store::Store;").is_empty());
    }

    #[test]
    fn later_modules_may_not() {
        assert_eq!(
            found("page.rs", "//! A.\nuse crate::wal::Wal;"),
            ["page.rs:2: `page` may not use `wal`: it comes later in the order"]
        );
        let later = ": it comes later in the order";
        for text in [
            "use crate::{io, store::Store};",
            "use crate::{io::{self, File}, btree as tree, store};",
            "use super::store::Store;",
            "fn f() { super::store::open() }",
            "mod inner { use super::super::store::Store; }",
        ] {
            let messages = found("txn.rs", text);
            assert_eq!(messages, [format!("txn.rs:1: `txn` may not use `store`{later}")], "{text}");
        }
        assert_eq!(found("txn/a/b.rs", "use super::super::super::store;").len(), 1);
        assert!(found("txn/a/b.rs", "use super::super::store;").is_empty());
        assert!(found("txn.rs", "mod inner { use super::Txn; }").is_empty());
    }

    #[test]
    fn tests_and_comments_are_free() {
        let text = "// crate::store\n#[cfg(test)]\nmod tests { use crate::store::Store; }";
        assert!(found("page.rs", text).is_empty());
    }

    #[test]
    fn every_module_has_a_place() {
        assert_eq!(found("cache.rs", "").len(), 1);
        let hidden = "`crate::Error` does not say its module: write `crate::module::Error`";
        assert_eq!(found("page.rs", "use crate::Error;"), [format!("page.rs:1: {hidden}")]);
        assert_eq!(found("page.rs", "use super::*;").len(), 1);
    }
}
