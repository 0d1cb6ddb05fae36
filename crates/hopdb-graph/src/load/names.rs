//! Names in backquotes: labels, relationship types and property keys that could not stand where they do as they are.
//!
//! Our own, and one syntax everywhere: in headers, in `:LABEL` and `:TYPE` columns, on command lines. A text that
//! begins with a backquote is a name up to the next one. Inside, a doubled backquote is one, and `\n`, `\r` and
//! `\\` are newline, carriage return and backslash, so that every name is one line. What may not stand in a
//! name without backquotes depends on the place, and its reader says so.

use std::borrow::Cow;

const QUOTE: char = '`';

/// Appends a name, in backquotes where it holds one of `special` or would be read otherwise without.
pub fn write_name(name: &str, special: &[char], out: &mut String) {
    let is_plain = !name.is_empty()
        && !name.starts_with(QUOTE)
        && name.trim().len() == name.len()
        && !name.contains(char::is_control)
        && !name.contains(special);
    if is_plain {
        out.push_str(name);
        return;
    }
    out.push(QUOTE);
    for character in name.chars() {
        match character {
            QUOTE => out.push_str("``"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            other => out.push(other),
        }
    }
    out.push(QUOTE);
}

/// The name in backquotes at the start of `text`, and what is behind; `None` when it begins otherwise.
///
/// # Errors
/// What is wrong with it, for a person.
pub fn quoted_name(text: &str) -> Result<Option<(String, &str)>, String> {
    let Some(inside) = text.strip_prefix(QUOTE) else { return Ok(None) };
    let mut name = String::new();
    let mut rest = inside;
    loop {
        let end = rest.find([QUOTE, '\\']).ok_or_else(|| {
            format!(
                "the backquote at the start of {text} is not closed; double those inside a name"
            )
        })?;
        name.push_str(&rest[..end]);
        let behind = &rest[end..];
        let (character, taken) = if behind.starts_with("``") {
            (QUOTE, 2)
        } else if behind.starts_with(QUOTE) {
            return Ok(Some((name, &behind[1..])));
        } else if behind.starts_with("\\n") {
            ('\n', 2)
        } else if behind.starts_with("\\r") {
            ('\r', 2)
        } else if behind.starts_with("\\\\") {
            ('\\', 2)
        } else {
            return Err(format!(
                "in backquotes a \\ is written \\\\ and stands alone only in \\n and \\r: {text}"
            ));
        };
        name.push(character);
        rest = &behind[taken..];
    }
}

/// The name that is all of `text`, in backquotes or as it is.
///
/// # Errors
/// What is wrong with it, for a person.
pub fn whole_name(text: &str) -> Result<Cow<'_, str>, String> {
    match quoted_name(text)? {
        None => Ok(Cow::Borrowed(text)),
        Some((name, "")) => Ok(Cow::Owned(name)),
        Some((_, rest)) => Err(format!("behind the name in backquotes stands {rest:?}")),
    }
}

/// Names with `delimiter` between them, without the ASCII white space around each; an empty one where there is none.
///
/// # Errors
/// What is wrong with one, for a person.
pub fn split_names(text: &str, delimiter: char) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    let mut rest = text;
    loop {
        let (name, behind) = match quoted_name(rest.trim_ascii_start())? {
            Some((name, behind)) => (name, behind.trim_ascii_start()),
            None => {
                let end = rest.find(delimiter).unwrap_or(rest.len());
                (rest[..end].trim_ascii().to_owned(), &rest[end..])
            }
        };
        names.push(name);
        if behind.is_empty() {
            return Ok(names);
        }
        rest = behind.strip_prefix(delimiter).ok_or_else(|| {
            format!("behind a name in backquotes stands {behind:?}, not {delimiter:?}")
        })?;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(name: &str) -> String {
        let mut out = String::new();
        write_name(name, &[':'], &mut out);
        out
    }

    #[test]
    fn names_are_quoted_where_they_must_be() {
        for (name, text) in [
            ("Person", "Person"),
            ("first name", "first name"),
            ("a`b\\", "a`b\\"),
            ("a:b", "`a:b`"),
            (" a", "` a`"),
            ("", "``"),
            ("`", "````"),
            ("a\r\n\\`", "`a\\r\\n\\\\```"),
        ] {
            assert_eq!(written(name), text);
            assert_eq!(whole_name(text).unwrap(), name);
        }
    }

    #[test]
    fn wrong_names_are_refused() {
        for text in ["`a", "`a``", "`a\\b`", "`a\\", "`a`b"] {
            assert!(whole_name(text).is_err(), "{text} was taken");
        }
        assert_eq!(quoted_name("`a`:int"), Ok(Some(("a".into(), ":int"))));
    }

    #[test]
    fn lists_of_names_are_split() {
        let split = |text| split_names(text, ';').unwrap();
        assert_eq!(split("A; B ;"), ["A", "B", ""]);
        assert_eq!(split(" `A;` ;``` `; b`c "), ["A;", "` ", "b`c"].map(str::to_owned).to_vec());
        assert!(split_names("`A`B;C", ';').is_err());
    }

    proptest! {
        #[test]
        fn every_name_is_read_back(names in prop::collection::vec("[a`\\\\\n\r;: \u{a0}\0é]{1,6}|.{1,9}", 1..4)) {
            let texts = names.iter().map(|name| {
                let mut text = String::new();
                write_name(name, &[';', ':'], &mut text);
                text
            });
            let texts: Vec<String> = texts.collect();
            for (name, text) in names.iter().zip(&texts) {
                prop_assert!(!text.contains(['\n', '\r']));
                prop_assert_eq!(whole_name(text.trim()).unwrap(), &**name);
            }
            prop_assert_eq!(split_names(&texts.join(";"), ';').unwrap(), names);
        }
    }
}
