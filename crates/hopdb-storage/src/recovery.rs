//! Recovery: brings a file that was not closed to its last durable commit, and the log back into use.
//!
//! Two passes over the log from the redo point on, a window of its bytes at a time. The *survey* finds where the log ends, what belongs
//! to commits, and what became of each page; then the log is made durable and what is torn behind it goes. Pages
//! that may be torn in their places are put there again from their images. The *redo* works out the pages, window by
//! window in page order: start from the page in the file; apply what is newer, in order. The pages become dirty heads of
//! the pool, and go to their places by the rules of every other page, so that a crash in here starts it again (I10,
//! I15).
//!
//! Rules, argued in `docs/file-format.md`, "Redo":
//! 1. What a page was before the last commit that bore or freed it does not matter: those records are skipped.
//! 2. A delta applies to exactly the version it names; anything else is corruption.
//! 3. Records that a rollback record follows, and no commit in between, do not count.

mod runs;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::buffer::{Gone, PageRef, Pool, Publish};
use crate::codec::num::get_u64;
use crate::error::{Error, Result};
use crate::mutants::Mutant;
use crate::page::{self, CommitTs, DIRECTORY_ROOT, Lsn, PageId};
use crate::pager::header::{Header, PAGES_MAX};
use crate::pager::{Pager, RedoPoint};
use crate::txn::delta;
use crate::wal::{Extent, Position, Record, RecordKind, Remnants, Wal};
use runs::Runs;

/// Bytes of records whose pages are worked out together.
const WINDOW_BYTES: usize = 32 << 20;
/// Pages that are handed to the pool together.
const PUBLISH_PAGES: usize = 64;

/// What recovery did, for the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// Commits replayed from the log.
    pub commits: u64,
    /// Pages restored.
    pub pages: u64,
    /// Bytes of the log from the redo point to the last commit.
    pub log_bytes: u64,
    /// Bytes of an unfinished commit that were cut off the log.
    pub cut_bytes: u64,
}

/// What the log says.
pub(crate) struct Survey {
    /// The last commit.
    pub(crate) newest: RedoPoint,
    /// Pages that the file must have, since the log does not have them whole.
    pub(crate) file_pages: u64,
    /// Where its records lie.
    pub(crate) extents: Vec<Extent>,
    /// Bytes of records behind the last commit.
    pub(crate) unfinished_bytes: u64,
    /// LSN below which everything was synced.
    pub(crate) durable: Lsn,
    /// What lies behind the last record.
    pub(crate) remnants: Remnants,
    start: Position,
    start_ts: CommitTs,
    /// Records that do not count, in order.
    rolled_back: Vec<Range<Lsn>>,
    /// Pages that were born or freed, with the last record that says so.
    resets: Runs<Lsn>,
}

/// Records since the last commit or rollback.
#[derive(Default)]
struct Open {
    start: Option<Lsn>,
    /// Runs of pages born or freed, with the record that says so.
    resets: Vec<(Range<u64>, Lsn)>,
    /// Pages born, and those among them that are whole in the log.
    born: Runs<()>,
    whole: BTreeSet<u64>,
}

/// Goes through the log of `wal` for the first time.
pub(crate) fn survey(header: &Header, wal: &Wal) -> Result<Survey> {
    let start = Position { lsn: header.base_lsn, at: header.base_at };
    if start.at < wal.records_at() || start.at > wal.file_len()? {
        return Err(corrupt(wal, start.lsn, "the redo point lies outside the log"));
    }
    let mut survey = Survey {
        newest: RedoPoint { ts: header.commit_ts, pages: header.page_count, lsn: start.lsn },
        file_pages: header.page_count,
        extents: vec![Extent { lsn: start.lsn, at: start.at, end_at: start.at }],
        unfinished_bytes: 0,
        durable: start.lsn,
        remnants: Remnants::default(),
        start,
        start_ts: header.commit_ts,
        rolled_back: Vec::new(),
        resets: Runs::default(),
    };
    let mut open = Open::default();
    let mut reader = wal.reader(start)?;
    while let Some(record) = reader.next()? {
        survey.durable = survey.durable.max(record.durable);
        survey.note(wal, &record, &mut open)?;
    }
    survey.extents = reader.extents().to_vec();
    let end = reader.position().lsn;
    survey.unfinished_bytes = open.start.map_or(0, |start| end.0 - start.0);
    survey.remnants = wal.remnants(end, &survey.extents)?;
    if survey.remnants.durable > end && !Mutant::NoHoleRule.is_on() {
        let durable = survey.remnants.durable;
        let reason = format!("no valid record, though all below LSN {durable} was synced");
        return Err(corrupt(wal, end, reason));
    }
    Ok(survey)
}

fn corrupt(wal: &Wal, lsn: Lsn, reason: impl Into<String>) -> Error {
    Error::CorruptLog { path: wal.path().to_path_buf(), lsn: lsn.0, reason: reason.into() }
}

/// A payload that must have at least `len` bytes.
fn payload<'a>(wal: &Wal, record: &Record<'a>, len: usize) -> Result<&'a [u8]> {
    if record.payload.len() < len {
        let what = format!("a {:?} record is too short", record.kind);
        return Err(corrupt(wal, record.position.lsn, what));
    }
    Ok(record.payload)
}

impl Survey {
    /// Commits behind the redo point.
    pub(crate) fn commits(&self) -> u64 {
        self.newest.ts.0 - self.start_ts.0
    }

    /// Bytes of records from the redo point to the last commit.
    pub(crate) fn log_bytes(&self) -> u64 {
        self.newest.lsn.0 - self.start.lsn.0
    }

    /// Takes note of a record.
    fn note(&mut self, wal: &Wal, record: &Record<'_>, open: &mut Open) -> Result<()> {
        let lsn = record.position.lsn;
        let start = *open.start.get_or_insert(lsn);
        match record.kind {
            RecordKind::PageDelta | RecordKind::PageImage => {
                let id = PageId(get_u64(payload(wal, record, 16)?, 0));
                if id < DIRECTORY_ROOT {
                    return Err(corrupt(wal, lsn, format!("it changes page {id}")));
                }
                if record.kind == RecordKind::PageImage && open.born.get(id.0).is_some() {
                    open.whole.insert(id.0);
                }
            }
            RecordKind::BornPages | RecordKind::FreedPages => {
                for run in payload(wal, record, 16)?.chunks_exact(16) {
                    let first = get_u64(run, 0);
                    let run = first..first.saturating_add(get_u64(run, 8));
                    open.resets.push((run.clone(), lsn));
                    if record.kind == RecordKind::BornPages {
                        open.born.set(run, ());
                    }
                }
            }
            RecordKind::Rollback if Mutant::IgnoreRollback.is_on() => {}
            RecordKind::Rollback => {
                self.rolled_back.push(start..record.end);
                *open = Open::default();
            }
            RecordKind::Commit => return self.commit(wal, record, std::mem::take(open)),
            RecordKind::Jump => return Err(corrupt(wal, lsn, "a jump where none can be")),
        }
        Ok(())
    }

    fn commit(&mut self, wal: &Wal, record: &Record<'_>, open: Open) -> Result<()> {
        let lsn = record.position.lsn;
        let bytes = payload(wal, record, 16)?;
        let (ts, pages) = (CommitTs(get_u64(bytes, 0)), get_u64(bytes, 8));
        if pages < self.newest.pages || pages > PAGES_MAX {
            let what = format!("{pages} pages follow {}", self.newest.pages);
            return Err(corrupt(wal, lsn, what));
        }
        if ts.0 != self.newest.ts.0 + 1 {
            return Err(corrupt(wal, lsn, format!("commit {ts} follows {}", self.newest.ts)));
        }
        self.newest = RedoPoint { ts, pages, lsn: record.end };
        // Pages that a commit bore are whole in its records, or were written to the file before.
        for run in open.born.ranges() {
            if let Some(last) = run.rev().find(|id| !open.whole.contains(id)) {
                self.file_pages = self.file_pages.max(last.saturating_add(1));
            }
        }
        for (ids, lsn) in open.resets {
            self.resets.set(ids, lsn);
        }
        Ok(())
    }
}

/// A change of one page, in log order.
struct Update {
    lsn: Lsn,
    ts: CommitTs,
    kind: RecordKind,
    /// Its payload among the window's bytes.
    payload: Range<usize>,
}

/// Records whose pages are worked out together.
#[derive(Default)]
struct Window {
    bytes: Vec<u8>,
    updates: BTreeMap<PageId, Vec<Update>>,
}

/// The second pass.
struct Redo<'a> {
    pager: &'a Pager,
    pool: &'a Pool,
    wal: &'a Wal,
    /// LSN behind the last commit.
    end: Lsn,
    /// Pages that were worked out: the pool has them, or gets them right from the file.
    restored: FxHashSet<PageId>,
    ready: Vec<Publish>,
}

/// Works out every page that the surveyed log changes, and hands it to the pool as dirty; gives how many. The log is
/// settled, and the pager has it.
pub(crate) fn redo(pager: &Pager, pool: &Pool, survey: &Survey) -> Result<u64> {
    let wal = pager.wal().expect("recovery has a log");
    mend(pager, wal, survey)?;
    let (restored, ready) = (FxHashSet::default(), Vec::new());
    let end = survey.newest.lsn;
    let mut redo = Redo { pager, pool, wal, end, restored, ready };
    let mut window = Window::default();
    let mut ts = survey.start_ts;
    let mut rolled_back = survey.rolled_back.iter().peekable();
    let mut reader = wal.reader(survey.start)?;
    while reader.position().lsn < survey.newest.lsn
        && let Some(record) = reader.next()?
    {
        let lsn = record.position.lsn;
        while rolled_back.next_if(|range| range.end <= lsn).is_some() {}
        if rolled_back.peek().is_some_and(|range| range.contains(&lsn)) {
            continue;
        }
        match record.kind {
            RecordKind::Commit => ts = CommitTs(ts.0 + 1),
            RecordKind::PageDelta | RecordKind::PageImage => {
                window.add(&record, CommitTs(ts.0 + 1), survey);
            }
            _ => {}
        }
        if window.bytes.len() > WINDOW_BYTES {
            redo.apply_window(std::mem::take(&mut window))?;
        }
    }
    redo.apply_window(window)?;
    redo.publish()?;
    Ok(redo.restored.len() as u64)
}

/// Puts images in their places, where a crash may have torn the pages; also where the file shows the same version, which
/// may never have been synced. Before the image area is used again.
/// One from before the redo point is left over: its page was synced in its place before that point was.
fn mend(pager: &Pager, wal: &Wal, survey: &Survey) -> Result<()> {
    let mut again = Vec::new();
    for image in wal.read_images()? {
        let id = page::id(&image);
        let is_page = (DIRECTORY_ROOT.0..survey.newest.pages).contains(&id.0);
        if !is_page || page::lsn(&image) < survey.start.lsn {
            continue;
        }
        match pager.read(id) {
            // A newer one had an image, whose slot was used again: it is durable.
            Ok(bytes) if page::lsn(&bytes) > page::lsn(&image) => {}
            Ok(_) | Err(Error::CorruptPage { .. } | Error::Truncated { .. }) => again.push(image),
            Err(error) => return Err(error),
        }
    }
    if again.is_empty() || Mutant::SkipMending.is_on() {
        return Ok(());
    }
    let again: Vec<&[u8]> = again.iter().map(AsRef::as_ref).collect();
    pager.write_born(&again)?;
    pager.sync()
}

impl Window {
    /// Takes a record over, unless its page was born or freed later, or is not there any more.
    fn add(&mut self, record: &Record<'_>, ts: CommitTs, survey: &Survey) {
        let (id, lsn) = (PageId(get_u64(record.payload, 0)), record.position.lsn);
        let behind = |reset| reset > lsn && !Mutant::IgnoreResets.is_on();
        if id.0 >= survey.newest.pages || survey.resets.get(id.0).is_some_and(behind) {
            return;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(record.payload);
        let payload = start..self.bytes.len();
        self.updates.entry(id).or_default().push(Update { lsn, ts, kind: record.kind, payload });
    }
}

impl Redo<'_> {
    fn apply_window(&mut self, window: Window) -> Result<()> {
        self.announce(&window);
        for (id, updates) in &window.updates {
            let (mut current, mut changed) = (None, false);
            for update in updates {
                changed |= self.apply(*id, &mut current, update, &window.bytes)?;
            }
            // One that is newer in the file is there for good: what was not synced has an image, and was mended.
            if let Some(bytes) = current.filter(|_| changed) {
                self.restore(*id, bytes)?;
            }
        }
        Ok(())
    }

    /// Lets the system read ahead what will be read.
    fn announce(&self, window: &Window) {
        let starts_from_file = |(id, updates): (&PageId, &Vec<Update>)| {
            let first = updates.first()?;
            (first.kind == RecordKind::PageDelta && !self.restored.contains(id)).then_some(*id)
        };
        self.pager.will_need(window.updates.iter().filter_map(starts_from_file));
    }

    /// Applies one change, unless the page has it; whether it did.
    fn apply(
        &self,
        id: PageId,
        current: &mut Option<Box<[u8]>>,
        update: &Update,
        bytes: &[u8],
    ) -> Result<bool> {
        let payload = &bytes[update.payload.clone()];
        if update.kind == RecordKind::PageImage {
            let image = &payload[8..];
            if image.len() != self.pager.page_size() {
                return Err(corrupt(self.wal, update.lsn, "a page image of another size"));
            }
            if (page::lsn(image), page::begin(image)) != (update.lsn, update.ts) {
                return Err(corrupt(self.wal, update.lsn, "a page image of another commit"));
            }
            let is_newer = current.as_ref().is_none_or(|bytes| page::lsn(bytes) < update.lsn);
            if is_newer {
                *current = Some(Box::from(image));
            }
            return Ok(is_newer);
        }
        let bytes = match current {
            Some(bytes) => bytes,
            None => current.insert(self.start_of(id)?),
        };
        let lsn = page::lsn(bytes);
        if lsn >= update.lsn {
            return Ok(false);
        }
        let base = Lsn(get_u64(payload, 8));
        if lsn != base {
            let what = format!("a change of page {id} is for LSN {base}, the page has {lsn}");
            return Err(corrupt(self.wal, update.lsn, what));
        }
        if !delta::apply(bytes, &payload[16..]) {
            let what = format!("a change of page {id} does not fit it");
            return Err(corrupt(self.wal, update.lsn, what));
        }
        page::set_stamp(bytes, update.ts, update.lsn);
        Ok(true)
    }

    /// The version that changes start from: what was worked out before, or the file's.
    fn start_of(&self, id: PageId) -> Result<Box<[u8]>> {
        if self.restored.contains(&id) {
            let ready = self.ready.iter().find(|publish| page::id(&publish.frame) == id);
            return match ready {
                Some(publish) => Ok(Box::from(&*publish.frame)),
                None => Ok(Box::from(&*self.pool.fetch(id, CommitTs(u64::MAX))?)),
            };
        }
        let bytes = self.pager.read(id)?;
        let lsn = page::lsn(&bytes);
        if lsn >= self.end {
            let what = format!("the log ends here, but page {id} has LSN {lsn}");
            return Err(corrupt(self.wal, self.end, what));
        }
        Ok(bytes)
    }

    fn restore(&mut self, id: PageId, bytes: Box<[u8]>) -> Result<()> {
        page::verify_layout(&bytes, id)
            .map_err(|why| self.pager.corrupt(id, format!("restored from the log, {why}")))?;
        self.restored.insert(id);
        self.ready.push(Publish { frame: PageRef::new(bytes), base: None, dirty: true });
        if self.ready.len() >= PUBLISH_PAGES { self.publish() } else { Ok(()) }
    }

    fn publish(&mut self) -> Result<()> {
        let pages = std::mem::take(&mut self.ready);
        self.pool.publish(pages, &Gone::default(), CommitTs(0));
        self.pool.relieve()
    }
}
