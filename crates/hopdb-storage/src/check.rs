//! Checks a whole file: every page, every tree, and that each page id is either in use once or free.

use std::collections::BTreeMap;
use std::fmt;

use crate::btree::verify::{TreeStatistics, Visitor, reason, verify};
use crate::buffer::PageSource;
use crate::error::Error;
use crate::page::{FIRST_PAGES, PageId, PageKind};
use crate::txn::allocation;

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The table, where one is concerned.
    pub table: Option<String>,
    /// The page.
    pub page: u64,
    /// What is wrong with it.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(table) = &self.table {
            write!(f, "table {table}, ")?;
        }
        write!(f, "page {}: {}", self.page, self.what)
    }
}

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// What is wrong; empty when all is well.
    pub problems: Vec<Problem>,
    /// Statistics by table name.
    pub tables: BTreeMap<String, TreeStatistics>,
    /// Pages in all, and those not in use.
    pub pages: u64,
    /// Pages not in use.
    pub free_pages: u64,
    /// Pages in use by kind, in the order of kinds.
    pub pages_by_kind: BTreeMap<PageKind, u64>,
}

/// Most problems that are listed.
const PROBLEMS_MAX: usize = 1000;

struct Checker {
    report: CheckReport,
    table: Option<String>,
    /// One bit a page: reached.
    reached: Vec<u64>,
    /// Whether a page could not be read: then pages that nothing was seen to lead to prove nothing.
    unreadable: bool,
}

impl Visitor for Checker {
    fn page(&mut self, id: PageId, kind: PageKind) {
        if self.reach(id) {
            *self.report.pages_by_kind.entry(kind).or_default() += 1;
        }
    }

    fn unreadable(&mut self, id: PageId, error: &Error) {
        self.unreadable = true;
        self.reach(id);
        self.problem(id, reason(error));
    }

    fn problem(&mut self, id: PageId, what: String) {
        if self.report.problems.len() < PROBLEMS_MAX {
            let problem = Problem { table: self.table.clone(), page: id.0, what };
            self.report.problems.push(problem);
        }
    }
}

/// Walks the trees at the given roots, the directory's first, and holds the pages reached against the
/// allocation map.
pub(crate) fn check<S: PageSource>(
    source: &S,
    roots: &[(String, PageId)],
    pages: u64,
    range_pages: u64,
) -> CheckReport {
    let words = usize::try_from(pages.div_ceil(64)).expect("one bit a page fits memory");
    let report = CheckReport { pages, ..CheckReport::default() };
    let mut checker = Checker { report, table: None, reached: vec![0; words], unreadable: false };
    for (table, root) in roots {
        checker.table = Some(table.clone());
        let statistics = verify(source, *root, &mut checker);
        checker.report.tables.insert(table.clone(), statistics);
    }
    checker.table = None;
    checker.accounts(source, range_pages);
    checker.report
}

impl Checker {
    /// Notes that something leads to a page; whether the file has it.
    fn reach(&mut self, id: PageId) -> bool {
        if id.0 >= self.report.pages {
            let what = format!("the file has {} pages only", self.report.pages);
            self.problem(id, what);
            return false;
        }
        let index = usize::try_from(id.0 / 64).expect("checked against the page count");
        let bit = 1 << (id.0 % 64);
        if self.reached[index] & bit != 0 {
            self.problem(id, "it is reached twice".into());
        }
        self.reached[index] |= bit;
        true
    }

    /// Each page is in use exactly when something reaches it.
    fn accounts<S: PageSource>(&mut self, source: &S, range_pages: u64) {
        for start in (0..self.report.pages).step_by(usize::try_from(range_pages).unwrap_or(1)) {
            let map_id = allocation::map_page(PageId(start), range_pages);
            let map = match source.page(map_id) {
                Ok(map) => map,
                Err(error) => {
                    self.problem(map_id, reason(&error));
                    continue;
                }
            };
            self.page(map_id, PageKind::AllocationMap);
            for id in start..(start + range_pages).min(self.report.pages) {
                let used = allocation::in_use(&map, PageId(id), range_pages);
                let index = usize::try_from(id / 64).expect("below the page count");
                let reached = id < FIRST_PAGES || self.reached[index] & (1 << (id % 64)) != 0;
                match (used, reached) {
                    (true, false) if self.unreadable => {}
                    (true, false) => {
                        self.problem(PageId(id), "in use, but nothing leads to it".into())
                    }
                    (false, true) => {
                        self.problem(PageId(id), "reached, but free by the map".into())
                    }
                    (false, false) => self.report.free_pages += 1,
                    (true, true) => {}
                }
            }
        }
    }
}
