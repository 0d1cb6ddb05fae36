//! Walks a whole tree and holds it against its invariants.

use super::{LEVELS_MAX, large::Descriptor};
use crate::buffer::PageSource;
use crate::error::Error;
use crate::page::{self, PageId, PageKind, slotted};

/// What a walk of one tree found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeStatistics {
    /// Entries.
    pub entries: u64,
    /// Levels: 1 for a tree that is one leaf.
    pub depth: u64,
    /// Leaf pages.
    pub leaf_pages: u64,
    /// Branch pages.
    pub branch_pages: u64,
    /// Pages of large values.
    pub extent_pages: u64,
    /// Bytes taken by cells and slots in leaf and branch pages.
    pub used_bytes: u64,
}

/// Receives what a walk meets.
pub(crate) trait Visitor {
    /// A page that the tree reaches.
    fn page(&mut self, id: PageId, kind: PageKind);
    /// A page that the tree reaches and that cannot be read: what lies below it stays unseen.
    fn unreadable(&mut self, id: PageId, error: &Error);
    /// Something that should not be; the walk goes on where it can.
    fn problem(&mut self, id: PageId, what: String);
}

struct Walk<'a, S, V> {
    source: &'a S,
    visitor: &'a mut V,
    statistics: TreeStatistics,
}

/// What the parent says of a page.
struct Expected<'k> {
    low: Option<&'k [u8]>,
    high: Option<&'k [u8]>,
    /// `None` for the root, which says itself.
    level: Option<u8>,
}

/// Walks the tree at `root`. Unreadable pages are reported to the visitor as well.
pub(crate) fn verify<S: PageSource, V: Visitor>(
    source: &S,
    root: PageId,
    visitor: &mut V,
) -> TreeStatistics {
    let mut walk = Walk { source, visitor, statistics: TreeStatistics::default() };
    walk.visit(root, &Expected { low: None, high: None, level: None }, 0);
    walk.statistics
}

impl<S: PageSource, V: Visitor> Walk<'_, S, V> {
    fn visit(&mut self, id: PageId, expected: &Expected<'_>, depth: usize) {
        // A copy: a page for each level would be more than a small pool has frames.
        let page = match self.source.page(id) {
            Ok(page) => page.to_vec(),
            Err(error) => return self.visitor.unreadable(id, &error),
        };
        let kind = page::kind(&page);
        self.visitor.page(id, kind);
        let level = page::level(&page);
        if expected.level.is_some_and(|wanted| wanted != level) {
            self.visitor.problem(id, format!("it is at level {level}, its parent says otherwise"));
            return;
        }
        self.statistics.used_bytes += slotted_used(&page);
        match kind {
            PageKind::Leaf if level == 0 => self.leaf(id, &page, expected, depth),
            PageKind::Branch if level > 0 && depth < LEVELS_MAX => {
                self.branch(id, &page, expected, depth);
            }
            _ => self.visitor.problem(id, format!("a tree leads to a {kind:?} at level {level}")),
        }
    }

    fn leaf(&mut self, id: PageId, page: &[u8], expected: &Expected<'_>, depth: usize) {
        self.statistics.leaf_pages += 1;
        self.statistics.entries += page::count(page) as u64;
        self.statistics.depth = self.statistics.depth.max(depth as u64 + 1);
        if page::count(page) == 0 && depth > 0 {
            self.visitor.problem(id, "a leaf below a branch is empty".into());
        }
        self.keys(id, page, expected, 0);
        for slot in 0..page::count(page) {
            let value = slotted::value(page, slot);
            if value.large {
                self.large(id, slot, &page[value.start..value.start + value.len]);
            }
        }
    }

    fn large(&mut self, id: PageId, slot: usize, descriptor: &[u8]) {
        let Some(descriptor) = Descriptor::decode(descriptor) else {
            let what = format!("slot {slot}: the descriptor of a large value is damaged");
            return self.visitor.problem(id, what);
        };
        let mut bytes = 0;
        for extent in descriptor.pages() {
            self.visitor.page(extent, PageKind::Extent);
            self.statistics.extent_pages += 1;
            match self.source.page(extent) {
                Ok(page) if page::kind(&page) == PageKind::Extent => {
                    bytes += page::count(&page) as u64;
                }
                Ok(page) => {
                    // Whatever the descriptor says of the rest, it may be without end.
                    let what = format!("a large value leads to a {:?}", page::kind(&page));
                    return self.visitor.problem(extent, what);
                }
                Err(error) => self.visitor.problem(extent, reason(&error)),
            }
        }
        if bytes != descriptor.len {
            let what = format!(
                "slot {slot}: a large value of {} bytes has {bytes} in its pages",
                descriptor.len
            );
            self.visitor.problem(id, what);
        }
    }

    fn branch(&mut self, id: PageId, page: &[u8], expected: &Expected<'_>, depth: usize) {
        self.statistics.branch_pages += 1;
        self.keys(id, page, expected, 1);
        let slots = page::count(page);
        let level = page::level(page) - 1;
        for slot in 0..slots {
            let low = if slot == 0 { expected.low } else { Some(slotted::key(page, slot)) };
            let high =
                if slot + 1 < slots { Some(slotted::key(page, slot + 1)) } else { expected.high };
            let below = Expected { low, high, level: Some(level) };
            self.visit(slotted::child(page, slot), &below, depth + 1);
        }
    }

    /// Keys from slot `first` on ascend and lie within the bounds.
    fn keys(&mut self, id: PageId, page: &[u8], expected: &Expected<'_>, first: usize) {
        if !slotted::heads_are_right(page) {
            self.visitor.problem(id, "its prefix or the heads of its keys are wrong".into());
        }
        for slot in first..page::count(page) {
            let key = slotted::key(page, slot);
            if slot > first && slotted::key(page, slot - 1) >= key {
                self.visitor.problem(id, format!("the key of slot {slot} does not ascend"));
            }
            if expected.low.is_some_and(|low| key < low)
                || expected.high.is_some_and(|high| key >= high)
            {
                let what = format!("the key of slot {slot} lies outside the parent's separators");
                self.visitor.problem(id, what);
            }
        }
    }
}

fn slotted_used(page: &[u8]) -> u64 {
    match page::kind(page) {
        PageKind::Leaf | PageKind::Branch => slotted::used(page) as u64,
        _ => 0,
    }
}

/// What an error says of a page whose number stands beside it.
pub(crate) fn reason(error: &Error) -> String {
    match error {
        Error::CorruptPage { reason, .. } => format!("damaged: {reason}"),
        other => other.to_string(),
    }
}
