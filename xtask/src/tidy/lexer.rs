//! As much of Rust's lexical grammar as the checks need: which bytes are code, and its tokens.
//!
//! No parser on purpose: tidy must build in seconds and read files that do not compile yet.

/// `text` with comments, strings and character literals turned into spaces. Lines and byte
/// offsets stay what they were.
pub(super) fn blank(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    let mut in_word = false;
    while let Some(first) = rest.chars().next() {
        let silent = silent_len(rest, in_word);
        if silent == 0 {
            code.push(first);
            in_word = is_word(first);
            rest = &rest[first.len_utf8()..];
        } else {
            push_blank(&mut code, &rest[..silent]);
            in_word = false;
            rest = &rest[silent..];
        }
    }
    code
}

/// Appends spaces in place of `text`, keeping its newlines and its length in bytes.
pub(super) fn push_blank(code: &mut String, text: &str) {
    code.extend(text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
}

/// The bytes of the comment or literal at the start of `rest`; 0 when code starts there.
fn silent_len(rest: &str, in_word: bool) -> usize {
    if rest.starts_with("//") {
        rest.find('\n').unwrap_or(rest.len())
    } else if rest.starts_with("/*") {
        block_comment_len(rest)
    } else if rest.starts_with('"') {
        string_len(rest)
    } else if rest.starts_with('\'') {
        char_len(rest)
    } else if in_word {
        0
    } else {
        raw_string_len(rest)
    }
}

fn block_comment_len(rest: &str) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while at < rest.len() {
        let bytes = &rest.as_bytes()[at..];
        if bytes.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

fn string_len(rest: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// 0 for a lifetime.
fn char_len(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some(_)) => {
            chars.find(|(_, c)| *c == '\'').map_or(rest.len(), |(at, _)| at + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 0,
    }
}

fn raw_string_len(rest: &str) -> usize {
    let prefix = ["r", "br", "cr"].into_iter().find(|prefix| {
        let after = rest.strip_prefix(prefix);
        after.is_some_and(|after| after.trim_start_matches('#').starts_with('"'))
    });
    let Some(prefix) = prefix else { return 0 };
    let after = &rest[prefix.len()..];
    let hashes = after.len() - after.trim_start_matches('#').len();
    let body = prefix.len() + hashes + 1;
    let end = format!("\"{}", "#".repeat(hashes));
    rest[body..].find(&end).map_or(rest.len(), |at| body + at + end.len())
}

/// Whether `c` can be part of an identifier or a number.
pub(super) fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// An identifier, a keyword, a number, `::`, or one other character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'c> {
    pub(super) text: &'c str,
    /// In bytes from the start of the code.
    pub(super) offset: usize,
}

impl Token<'_> {
    /// The offset of the byte after it.
    pub(super) fn end(&self) -> usize {
        self.offset + self.text.len()
    }

    /// Whether it is an identifier, a keyword or a number.
    pub(super) fn is_word(&self) -> bool {
        self.text.starts_with(is_word)
    }
}

/// The tokens of blanked code.
pub(super) fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut offset = 0;
    while let Some(first) = code[offset..].chars().next() {
        let rest = &code[offset..];
        let len = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        if !first.is_whitespace() {
            tokens.push(Token { text: &rest[..len], offset });
        }
        offset += len;
    }
    tokens
}

/// The index of the bracket that closes the one at `open`; the last token when none does.
pub(super) fn closing(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth <= 1 => return index,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
    }
    tokens.len().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_words(text: &str) -> Vec<String> {
        let code = blank(text);
        assert_eq!(code.len(), text.len(), "offsets stay");
        assert_eq!(code.matches('\n').count(), text.matches('\n').count(), "lines stay");
        tokens(&code).iter().filter(|t| t.is_word()).map(|t| t.text.to_owned()).collect()
    }

    #[test]
    fn comments_and_literals_are_no_code() {
        assert_eq!(code_words("a // b\nc /* d /* e */ f */ g"), ["a", "c", "g"]);
        assert_eq!(code_words(r#"a("b \" c", 'd', '\'', '"') e"#), ["a", "e"]);
        assert_eq!(code_words(r##"a(r"b\", r#"c " d"#, br"e\") f"##), ["a", "f"]);
        assert_eq!(code_words("a é \"é\nx\" b"), ["a", "é", "b"]);
    }

    #[test]
    fn lifetimes_and_raw_identifiers_are_code() {
        assert_eq!(
            code_words("fn f<'a>(x: &'a str, r#type: u8)").join(" "),
            "fn f a x a str r type u8"
        );
    }

    #[test]
    fn brackets_close_each_other() {
        let code = "f(a[1], { b }) { c }";
        let tokens = tokens(code);
        let close = closing(&tokens, 1);
        assert_eq!((tokens[close].text, tokens[close].offset), (")", 13));
        assert_eq!(closing(&tokens, close + 1), tokens.len() - 1);
    }
}
