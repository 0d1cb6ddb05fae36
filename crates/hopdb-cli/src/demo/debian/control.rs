//! Reading stanzas as dpkg writes them: fields of `Name: value` with folded lines, and fields of relations.
//!
//! Follows Debian Policy, chapters 5 (control files) and 7 (relationships between packages). Takes what it can
//! read and passes over the rest: the text comes from other people's packages. Knows nothing of graphs or files.

use std::io::{self, BufRead};

/// One stanza; its memory serves for the next.
#[derive(Debug, Default)]
pub(super) struct Stanza {
    text: String,
}

impl Stanza {
    /// Takes the next stanza in; false at the end. What is not UTF-8 is replaced.
    pub(super) fn read(&mut self, from: &mut impl BufRead) -> io::Result<bool> {
        self.text.clear();
        let mut line = Vec::new();
        while from.read_until(b'\n', &mut line)? > 0 {
            let text = String::from_utf8_lossy(&line);
            match text.trim_end() {
                "" if !self.text.is_empty() => break,
                "" => {}
                text => {
                    self.text.push_str(text);
                    self.text.push('\n');
                }
            }
            line.clear();
        }
        Ok(!self.text.is_empty())
    }

    /// A field's value with its folded lines; `None` when it is missing or empty.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let mut start = 0;
        for line in self.text.split_inclusive('\n') {
            let end = start + line.len();
            let named = line.get(..name.len()).is_some_and(|text| text.eq_ignore_ascii_case(name));
            if named && line[name.len()..].starts_with(':') {
                let value = start + name.len() + 1;
                let folded = self.text[end..].split_inclusive('\n');
                let folded = folded.take_while(|line| line.starts_with([' ', '\t']));
                let value = self.text[value..end + folded.map(str::len).sum::<usize>()].trim();
                return Some(value).filter(|value| !value.is_empty());
            }
            start = end;
        }
        None
    }

    /// The first line of a field.
    pub(super) fn line(&self, name: &str) -> Option<&str> {
        self.field(name).and_then(|value| value.lines().next()).map(str::trim_end)
    }
}

/// One package that a field of relations names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Relation<'t> {
    /// Which clause of the field it stands in, from 1: clauses have commas between.
    pub(super) clause: u32,
    /// Which alternative of the clause it is, from 1: alternatives have `|` between.
    pub(super) alternative: u32,
    /// The package's name.
    pub(super) name: &'t str,
    /// The architecture behind the name, such as `any`.
    pub(super) architecture: Option<&'t str>,
    /// The versions that will do, such as `>= 2.34`.
    pub(super) version: Option<String>,
}

/// All packages that a field of relations names, in its order.
pub(super) fn relations(field: &str) -> impl Iterator<Item = Relation<'_>> {
    let clauses = field.split(',').map(str::trim).filter(|clause| !clause.is_empty());
    (1..).zip(clauses).flat_map(|(clause, text)| {
        let alternatives = text.split('|').map(str::trim).filter(|text| !text.is_empty());
        (1..).zip(alternatives).filter_map(move |(alternative, text)| {
            let name_len = text.find(|c: char| c.is_whitespace() || "(:[<".contains(c));
            let (name, rest) = text.split_at(name_len.unwrap_or(text.len()));
            let architecture = rest
                .strip_prefix(':')
                .and_then(|rest| rest.split(|c: char| c.is_whitespace() || c == '(').next());
            let version = rest.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
            let version = version.map(|(version, _)| spaced(version));
            (!name.is_empty()).then_some(Relation {
                clause,
                alternative,
                name,
                architecture,
                version,
            })
        })
    })
}

/// A version clause with one space between sign and version.
fn spaced(version: &str) -> String {
    let version = version.trim();
    let sign = version.find(|c| !"<>=".contains(c)).unwrap_or(version.len());
    let (sign, number) = version.split_at(sign);
    format!("{sign} {}", number.trim()).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stanzas(mut text: &[u8]) -> Vec<Stanza> {
        let mut all = Vec::new();
        loop {
            let mut stanza = Stanza::default();
            if !stanza.read(&mut text).unwrap() {
                return all;
            }
            all.push(stanza);
        }
    }

    #[test]
    fn stanzas_are_separated_by_empty_lines() {
        let text = b"\n\nPackage: a\nVersion: 1\n \t\n\nPackage: b\r\nno field\nVERSION:2";
        let all = stanzas(text);
        let fields = all.iter().map(|stanza| (stanza.field("Package"), stanza.field("Version")));
        let wanted = [(Some("a"), Some("1")), (Some("b"), Some("2"))];
        assert_eq!(fields.collect::<Vec<_>>(), wanted);
        assert_eq!(all[0].field("Pack"), None);
        assert!(stanzas(b" \n\n").is_empty());
    }

    #[test]
    fn folded_lines_belong_to_their_field() {
        let text = b"Depends: a,\n b (>=\n\t1)\nDescription: short\n long one\n .\nTag:\nBad: \xff";
        let stanza = &stanzas(text)[0];
        assert_eq!(stanza.field("Depends"), Some("a,\n b (>=\n\t1)"));
        assert_eq!(stanza.line("Description"), Some("short"));
        assert_eq!(stanza.field("Tag"), None);
        assert_eq!(stanza.field("Bad"), Some("\u{fffd}"));
        assert_eq!(stanza.field("long one"), None);
        let names = relations(stanza.field("Depends").unwrap());
        let names: Vec<_> = names.map(|relation| (relation.name, relation.version)).collect();
        assert_eq!(names, [("a", None), ("b", Some(">= 1".into()))]);
    }

    #[test]
    fn every_form_of_a_relation_is_read() {
        let field = "a, b (>= 1:2.0~x),, c:any (<<3) | d:amd64|e , f (= 1) [amd64] <!nocheck>, f,";
        let found: Vec<_> = relations(field)
            .map(|found| {
                let Relation { clause, alternative, name, architecture, version } = found;
                (clause, alternative, name, architecture, version.unwrap_or_default())
            })
            .collect();
        let wanted = [
            (1, 1, "a", None, ""),
            (2, 1, "b", None, ">= 1:2.0~x"),
            (3, 1, "c", Some("any"), "<< 3"),
            (3, 2, "d", Some("amd64"), ""),
            (3, 3, "e", None, ""),
            (4, 1, "f", None, "= 1"),
            (5, 1, "f", None, ""),
        ];
        let wanted = wanted.map(|(a, b, c, d, e)| (a, b, c, d, e.to_owned()));
        assert_eq!(found, wanted);
        assert_eq!(relations(" , | ,").count(), 0);
    }

    #[test]
    fn any_text_is_read() {
        let mut random = fastrand::Rng::with_seed(1);
        let parts: [&[u8]; 16] = [
            b"Depends", b"Package", b"a", b"-", b":", b":", b",", b"|", b"(", b")", b" ", b"\t",
            b"\n", b"\n", b"\xc3", b"\xa9",
        ];
        for _ in 0..20_000 {
            let text: Vec<u8> =
                (0..random.usize(0..30)).flat_map(|_| parts[random.usize(..16)]).copied().collect();
            for stanza in stanzas(&text) {
                let found: Vec<_> =
                    relations(stanza.field("depends").unwrap_or_default()).collect();
                assert!(found.iter().all(|found| !found.name.is_empty()), "{text:?}");
                let place = |found: &Relation<'_>| (found.clause, found.alternative);
                assert!(found.is_sorted_by(|a, b| place(a) < place(b)), "{text:?}");
            }
        }
    }
}
