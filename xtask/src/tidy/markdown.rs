//! As much of Markdown as the checks need: links, code spans, and the anchors GitHub makes.

use std::collections::{BTreeMap, BTreeSet};

/// What a document points to, and what others can point to in it.
#[derive(Default)]
pub(super) struct Document {
    /// Line and target of each link, image and link definition.
    pub(super) links: Vec<(usize, String)>,
    /// Line and text of each code span outside code blocks.
    pub(super) code_spans: Vec<(usize, String)>,
    /// What `#…` may name.
    pub(super) anchors: BTreeSet<String>,
}

impl Document {
    /// Reads `text`.
    pub(super) fn new(text: &str) -> Self {
        let mut document = Self::default();
        let mut slugs = BTreeMap::new();
        let mut fence: Option<&str> = None;
        let mut before = "";
        for (index, line) in text.lines().enumerate() {
            let start = line.trim_start();
            match fence {
                Some(mark) if start.starts_with(mark) => fence = None,
                Some(_) => {}
                None => fence = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark)),
            }
            if fence.is_some() {
                before = "";
                continue;
            }
            document.read_line(index + 1, line);
            if let Some(heading) = heading(line, before) {
                let slug = unique(slug(heading), &mut slugs);
                document.anchors.insert(slug);
            }
            before = line;
        }
        document
    }

    fn read_line(&mut self, number: usize, line: &str) {
        let (spans, prose) = split_code_spans(line);
        self.code_spans.extend(spans.into_iter().map(|span| (number, span)));
        for (at, _) in prose.match_indices("](") {
            self.links.push((number, target(&prose[at + 2..])));
        }
        let definition =
            prose.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("]: "));
        if let Some((name, rest)) = definition.filter(|(name, _)| !name.contains(']')) {
            // A footnote is prose.
            if !name.starts_with('^') {
                self.links.push((number, target(rest)));
            }
        }
        for mark in ["<a id=\"", "<a name=\""] {
            let named = prose.split(mark).skip(1).filter_map(|rest| rest.split('"').next());
            self.anchors.extend(named.map(str::to_owned));
        }
    }
}

/// The code spans of `line`, and the line with each of them replaced by one backtick.
pub(super) fn split_code_spans(line: &str) -> (Vec<String>, String) {
    let (mut spans, mut prose, mut rest) = (Vec::new(), String::new(), line);
    while let Some(start) = rest.find('`') {
        let after = rest[start..].trim_start_matches('`');
        let ticks = &rest[start..rest.len() - after.len()];
        prose.push_str(&rest[..start]);
        prose.push('`');
        rest = after;
        if let Some((span, after)) = after.split_once(ticks) {
            spans.push(span.trim().to_owned());
            rest = after;
        }
    }
    prose.push_str(rest);
    (spans, prose)
}

/// The target at the start of `rest`, without its title.
fn target(rest: &str) -> String {
    if let Some((inside, _)) = rest.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        return inside.to_owned();
    }
    let mut depth = 0_usize;
    let end = rest.find(|c: char| {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return true,
            ')' => depth -= 1,
            _ => {}
        }
        c.is_whitespace()
    });
    rest[..end.unwrap_or(rest.len())].to_owned()
}

/// The text of the heading that `line` is, or that it makes of the line before.
fn heading<'l>(line: &'l str, before: &'l str) -> Option<&'l str> {
    let hashes = line.len() - line.trim_start_matches('#').len();
    if (1..=6).contains(&hashes) && line[hashes..].starts_with(' ') {
        return Some(line[hashes..].trim().trim_end_matches('#').trim());
    }
    let rule = line.trim_end();
    let underlined = rule.len() >= 2
        && ["=", "-"].iter().any(|c| rule.trim_matches(|r| c.contains(r)).is_empty());
    (underlined && !before.trim().is_empty()).then(|| before.trim())
}

/// GitHub's anchor for a heading: lower case, spaces to hyphens, other signs dropped.
fn slug(heading: &str) -> String {
    without_targets(heading)
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// `[text](target)` becomes `text`.
fn without_targets(heading: &str) -> String {
    let mut parts = heading.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let skipped = target(part).len();
        text.push_str(part[skipped..].trim_start_matches(')'));
    }
    text
}

/// A slug that is taken gets `-1`, `-2`, …
fn unique(slug: String, taken: &mut BTreeMap<String, usize>) -> String {
    let count = taken.entry(slug.clone()).or_insert(0);
    *count += 1;
    if *count == 1 { slug } else { format!("{slug}-{}", *count - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found() {
        let text = "See [a](b.md), ![c](d.png \"title\"), [e](<f g.md>)\nand `[x](y)`.\n\n```\n[x](y)\n```\n\
            [h]: i.md\n[^1]: a note\n[j](k(l).md)";
        let links = Document::new(text).links;
        let expected = [(1, "b.md"), (1, "d.png"), (1, "f g.md"), (7, "i.md"), (9, "k(l).md")];
        assert_eq!(links, expected.map(|(line, target)| (line, target.to_owned())));
    }

    #[test]
    fn anchors_follow_github() {
        let text = "# The `Page` header: 48 bytes!\n## A-b_c\n## See [x](y.md) & z ##\n## A-b_c\n\
            Under\n=====\n<a id=\"own\"></a>\n```\n# no\n```\n#no\n";
        let anchors: Vec<String> = Document::new(text).anchors.into_iter().collect();
        let expected = ["a-b_c", "a-b_c-1", "own", "see-x--z", "the-page-header-48-bytes", "under"];
        assert_eq!(anchors, expected);
    }

    #[test]
    fn code_spans_are_found() {
        let spans = Document::new("Look in `docs/a.md` or ``b ` c`` or `broken.").code_spans;
        assert_eq!(spans, [(1, "docs/a.md".to_owned()), (1, "b ` c".to_owned())]);
    }
}
