//! Recovery: brings a file that was not closed to its last durable commit.
//!
//! Reads the whole log from the redo point, keeps what belongs to commits, and works out each page:
//! start from its newest checkpoint image, or from the file; apply what is newer, in order. The pages become
//! dirty heads of the pool, and a checkpoint follows before anything else is written. Nothing in the file
//! changes before that, so a crash in here starts it again (I10, I15).
//!
//! Rules, argued in `docs/file-format.md`, "Redo":
//! 1. What a page was before the last commit that bore or freed it does not matter: those records are skipped.
//! 2. A checkpoint image stands for the LSN inside it, not for its place in the log.
//! 3. A delta applies to exactly the version it names; anything else is corruption.

use std::collections::{BTreeMap, BTreeSet};

use crate::codec::num::get_u64;
use crate::error::{Error, Result};
use crate::page::{self, CommitTs, DIRECTORY_ROOT, Lsn, PageId};
use crate::pager::Pager;
use crate::pager::header::PAGES_MAX;
use crate::txn::delta;
use crate::wal::{Entry, LogContent, RecordKind, Wal};

/// What recovery did, for the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// Commits replayed from the log.
    pub commits: u64,
    /// Pages restored.
    pub pages: u64,
    /// Bytes of an unfinished commit that were cut off the log.
    pub cut_bytes: u64,
}

/// The outcome: pages as of the last commit.
pub(crate) struct Recovered {
    pub(crate) pages: Vec<Box<[u8]>>,
    pub(crate) commit_ts: CommitTs,
    pub(crate) report: RecoveryReport,
}

/// A change of one page, in log order.
struct Update {
    lsn: Lsn,
    commit_ts: CommitTs,
    /// Payload behind the page id, by kind.
    record: Entry,
}

#[derive(Default)]
struct PageHistory {
    /// LSN of the last record that bore or freed the page.
    reset: Lsn,
    image: Option<(Lsn, Entry)>,
    updates: Vec<Update>,
}

struct Replay<'a> {
    pager: &'a Pager,
    wal: &'a Wal,
    log: &'a LogContent,
    histories: BTreeMap<PageId, PageHistory>,
    commit_ts: CommitTs,
    page_count: u64,
    /// Pages that the file must have, since the log does not have them whole.
    file_pages: u64,
    commits: u64,
    /// LSN behind the last record that counts.
    end: Lsn,
}

/// Replays the log of `wal` over the file, and cuts its torn tail.
pub(crate) fn recover(pager: &Pager, wal: &Wal) -> Result<Recovered> {
    let header = pager.header();
    let log = wal.read(header.base_lsn, header.salt())?;
    let mut replay = Replay {
        pager,
        wal,
        log: &log,
        histories: BTreeMap::new(),
        commit_ts: header.commit_ts,
        page_count: header.page_count,
        file_pages: header.page_count,
        commits: 0,
        end: header.base_lsn,
    };
    replay.collect()?;
    let (commit_ts, commits, end) = (replay.commit_ts, replay.commits, replay.end);
    pager.set_page_count(replay.page_count);
    pager.check_length(replay.file_pages)?;
    let pages = replay.restore()?;
    wal.cut(&log, end, header.salt())?;
    let report = RecoveryReport {
        commits,
        pages: pages.len() as u64,
        cut_bytes: log.bytes_behind(end, header.salt()),
    };
    Ok(Recovered { pages, commit_ts, report })
}

impl Replay<'_> {
    fn corrupt(&self, lsn: Lsn, reason: impl Into<String>) -> Error {
        Error::CorruptLog { path: self.wal.path().to_path_buf(), lsn: lsn.0, reason: reason.into() }
    }

    /// A payload that must have at least `len` bytes.
    fn payload(&self, entry: &Entry, len: usize) -> Result<&[u8]> {
        let payload = self.log.payload(entry);
        if payload.len() < len {
            return Err(self.corrupt(entry.lsn, format!("a {:?} record is too short", entry.kind)));
        }
        Ok(payload)
    }

    /// Sorts the records of complete commits by page.
    fn collect(&mut self) -> Result<()> {
        let mut open: Vec<Entry> = Vec::new();
        for entry in &self.log.records {
            match entry.kind {
                RecordKind::CheckpointImage => {
                    if !open.is_empty() {
                        return Err(self.corrupt(entry.lsn, "a checkpoint image inside a commit"));
                    }
                    self.image(*entry)?;
                    self.end = LogContent::next(entry);
                }
                RecordKind::Commit => {
                    self.commit(*entry, &open)?;
                    open.clear();
                    self.end = LogContent::next(entry);
                }
                _ => open.push(*entry),
            }
        }
        Ok(())
    }

    fn image(&mut self, entry: Entry) -> Result<()> {
        let payload = self.payload(&entry, 8)?;
        if payload.len() != 8 + self.pager.page_size() {
            return Err(self.corrupt(entry.lsn, "a checkpoint image of another size"));
        }
        let (id, lsn) = (PageId(get_u64(payload, 0)), page::lsn(&payload[8..]));
        let history = self.histories.entry(id).or_default();
        if history.image.is_none_or(|(other, _)| other <= lsn) {
            history.image = Some((lsn, entry));
        }
        Ok(())
    }

    fn commit(&mut self, entry: Entry, records: &[Entry]) -> Result<()> {
        let payload = self.payload(&entry, 16)?;
        let (commit_ts, page_count) = (CommitTs(get_u64(payload, 0)), get_u64(payload, 8));
        if page_count < self.page_count || page_count > PAGES_MAX {
            let what = format!("{page_count} pages follow {}", self.page_count);
            return Err(self.corrupt(entry.lsn, what));
        }
        if commit_ts.0 != self.commit_ts.0 + 1 {
            let what = format!("commit {commit_ts} follows commit {}", self.commit_ts);
            return Err(self.corrupt(entry.lsn, what));
        }
        (self.commit_ts, self.page_count) = (commit_ts, page_count);
        self.commits += 1;
        self.note_born_in_file(records)?;
        for record in records {
            match record.kind {
                RecordKind::BornPages | RecordKind::FreedPages => self.reset(*record)?,
                _ => {
                    let id = PageId(get_u64(self.payload(record, 16)?, 0));
                    let update = Update { lsn: record.lsn, commit_ts, record: *record };
                    self.histories.entry(id).or_default().updates.push(update);
                }
            }
        }
        Ok(())
    }

    /// Pages that a commit bore are whole in its records, or were written to the file before.
    fn note_born_in_file(&mut self, records: &[Entry]) -> Result<()> {
        let mut whole = BTreeSet::new();
        for record in records.iter().filter(|record| record.kind == RecordKind::PageImage) {
            whole.insert(get_u64(self.payload(record, 16)?, 0));
        }
        for record in records.iter().filter(|record| record.kind == RecordKind::BornPages) {
            for run in self.payload(record, 16)?.to_vec().chunks_exact(16) {
                let (first, count) = (get_u64(run, 0), get_u64(run, 8));
                let ids = first..first.saturating_add(count);
                if let Some(last) = ids.rev().find(|id| !whole.contains(id)) {
                    self.file_pages = self.file_pages.max(last.saturating_add(1));
                }
            }
        }
        Ok(())
    }

    fn reset(&mut self, entry: Entry) -> Result<()> {
        let payload = self.payload(&entry, 16)?.to_vec();
        for run in payload.chunks_exact(16) {
            let (first, count) = (get_u64(run, 0), get_u64(run, 8));
            // A page without a history needs no reset; one that gets a history later starts behind it.
            let ids = PageId(first)..PageId(first.saturating_add(count));
            for (_, history) in self.histories.range_mut(ids) {
                *history = PageHistory { reset: entry.lsn, ..PageHistory::default() };
            }
        }
        Ok(())
    }

    /// Works out every page that the log touches.
    fn restore(&self) -> Result<Vec<Box<[u8]>>> {
        let mut pages = Vec::new();
        for (id, history) in &self.histories {
            if id.0 < DIRECTORY_ROOT.0 {
                return Err(self.corrupt(history.reset, format!("it changes page {id}")));
            }
            if id.0 < self.page_count
                && let Some(bytes) = self.restore_page(*id, history)?
            {
                page::verify_layout(&bytes, *id).map_err(|reason| {
                    self.pager.corrupt(*id, format!("restored from the log, {reason}"))
                })?;
                pages.push(bytes);
            }
        }
        Ok(pages)
    }

    fn restore_page(&self, id: PageId, history: &PageHistory) -> Result<Option<Box<[u8]>>> {
        let image = history.image.filter(|(lsn, _)| *lsn > history.reset);
        let mut current = image.map(|(_, entry)| Box::from(self.image_bytes(&entry)));
        for update in &history.updates {
            if update.record.kind == RecordKind::PageImage {
                let bytes = self.image_bytes(&update.record);
                if bytes.len() != self.pager.page_size() {
                    return Err(self.corrupt(update.lsn, "a page image of another size"));
                }
                if current.as_ref().is_none_or(|bytes| page::lsn(bytes) < update.lsn) {
                    current = Some(Box::from(bytes));
                }
                continue;
            }
            let bytes = match &mut current {
                Some(bytes) => bytes,
                None => current.insert(self.pager.read(id)?),
            };
            self.apply(id, bytes, update)?;
        }
        Ok(current)
    }

    fn image_bytes(&self, entry: &Entry) -> &[u8] {
        &self.log.payload(entry)[8..]
    }

    fn apply(&self, id: PageId, bytes: &mut [u8], update: &Update) -> Result<()> {
        let lsn = page::lsn(bytes);
        if lsn >= update.lsn {
            return Ok(());
        }
        let payload = self.log.payload(&update.record);
        let base = Lsn(get_u64(payload, 8));
        if lsn != base {
            let what = format!("a change of page {id} is for LSN {base}, the page has {lsn}");
            return Err(self.corrupt(update.lsn, what));
        }
        if !delta::apply(bytes, &payload[16..]) {
            return Err(self.corrupt(update.lsn, format!("a change of page {id} does not fit it")));
        }
        page::set_stamp(bytes, update.commit_ts, update.lsn);
        Ok(())
    }
}
