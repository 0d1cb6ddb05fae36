//! The pool alone, over a file of numbered pages.

use super::*;
use crate::io::sim::SimFs;
use crate::io::{FileSystem, OpenMode};
use crate::page::{Lsn, PageKind};
use crate::pager::header::Header;
use crate::wal::LogSizes;
use std::path::Path;

const PAGE: usize = 4096;

/// A file of `pages` pages, each filled with its number, and a pool of `frames` frames over it.
fn pool(pages: u64, frames: usize) -> (SimFs, Arc<Pager>, Pool) {
    let fs = SimFs::new(1);
    let path = Path::new("pool.hop");
    let file = fs.open(path, OpenMode::CreateNew).unwrap();
    let header = Header {
        page_size: PAGE,
        file_id: 1,
        generation: 1,
        commit_ts: CommitTs(1),
        page_count: pages,
        base_lsn: Lsn(4096),
        base_at: 0,
        salt: 0,
        clean: true,
    };
    let pager = Arc::new(Pager::new(path, file, header, LogSizes::of(PAGE, frames * PAGE)));
    for id in 0..pages {
        pager.write_born(&[&numbered(id, CommitTs(1))]).unwrap();
    }
    let pool = Pool::new(Arc::clone(&pager), frames * PAGE);
    (fs, pager, pool)
}

fn numbered(id: u64, begin: CommitTs) -> Box<[u8]> {
    let mut bytes = vec![0; PAGE].into_boxed_slice();
    page::init(&mut bytes, PageId(id), PageKind::Extent, CommitTs(1));
    page::set_stamp(&mut bytes, begin, Lsn(begin.0));
    bytes[100..108].copy_from_slice(&(id * 1000 + begin.0).to_le_bytes());
    bytes
}

fn content(page: &[u8]) -> u64 {
    u64::from_le_bytes(page[100..108].try_into().unwrap())
}

/// Commits a change of one page. The version before is given along, as the writer does.
fn change(pool: &Pool, id: u64, ts: u64) {
    let frame = PageRef::new(numbered(id, CommitTs(ts)));
    let base = Some(PageRef::new(numbered(id, CommitTs(ts - 1))));
    pool.publish(vec![Publish { frame, base, dirty: true }], &Gone::default(), CommitTs(ts));
}

fn publish(pool: &Pool, id: u64, ts: u64) {
    change(pool, id, ts);
    pool.purge(|begin, end| begin < end && (begin..end).contains(&CommitTs(ts)));
}

#[test]
fn two_fetches_cost_one_read() {
    let (_, pager, pool) = pool(8, 4);
    let first = pool.fetch(PageId(5), CommitTs(1)).unwrap();
    let second = pool.fetch(PageId(5), CommitTs(1)).unwrap();
    assert_eq!(content(&first), 5001);
    assert!(first.is(&second));
    assert_eq!(pager.counts().pages_read, 1);
    assert_eq!((pool.counts().hits, pool.counts().misses), (1, 1));
}

#[test]
fn a_dirty_page_that_was_evicted_comes_back() {
    let (_, pager, pool) = pool(64, 4);
    for id in 4..8 {
        publish(&pool, id, 2);
    }
    for id in 8..64 {
        pool.fetch(PageId(id), CommitTs(2)).unwrap();
    }
    assert_eq!(pool.counts().dirty, 0, "room could only be made by writing them");
    let before = pager.counts().pages_read;
    assert_eq!(content(&pool.fetch(PageId(7), CommitTs(2)).unwrap()), 7002);
    assert_eq!(pager.counts().pages_read, before + 1, "it had left the pool");
}

#[test]
fn a_pinned_page_stays() {
    let (_, pager, pool) = pool(64, 4);
    let pinned = pool.fetch(PageId(1), CommitTs(1)).unwrap();
    for id in 2..64 {
        pool.fetch(PageId(id), CommitTs(1)).unwrap();
    }
    let reads = pager.counts().pages_read;
    assert!(pool.fetch(PageId(1), CommitTs(1)).unwrap().is(&pinned));
    assert_eq!(pager.counts().pages_read, reads);
    assert!(pool.counts().resident <= 4);
}

#[test]
fn write_back_reaches_the_file_and_keeps_the_page() {
    let (_, pager, pool) = pool(8, 4);
    publish(&pool, 3, 2);
    assert_eq!(content(&pager.read(PageId(3)).unwrap()), 3001);
    assert_eq!(pool.write_back(&pool.dirty_pages()).unwrap(), 1);
    assert_eq!(content(&pager.read(PageId(3)).unwrap()), 3002);
    let reads = pager.counts().pages_read;
    assert_eq!(content(&pool.fetch(PageId(3), CommitTs(2)).unwrap()), 3002);
    assert_eq!(pager.counts().pages_read, reads, "it is still resident");
    pool.forget_clean();
    assert_eq!(content(&pool.fetch(PageId(3), CommitTs(2)).unwrap()), 3002);
    assert_eq!(pager.counts().pages_read, reads + 1, "it was forgotten");
}

#[test]
fn a_page_past_the_end_starts_as_zeros() {
    let (_, pager, pool) = pool(8, 4);
    let page = pool.fetch(PageId(20), CommitTs(1)).unwrap();
    assert!(page[48..].iter().all(|byte| *byte == 0));
    assert_eq!(page::kind(&page), PageKind::Free);
    assert_eq!(pager.counts().pages_read, 0);
}

#[test]
fn a_pool_of_pinned_pages_says_so() {
    let (_, _, pool) = pool(8, 4);
    let held: Vec<_> = (0..4).map(|id| pool.fetch(PageId(id), CommitTs(1)).unwrap()).collect();
    match pool.fetch(PageId(5), CommitTs(1)) {
        Err(Error::PoolExhausted { frames: 4, pinned: 4, dirty: 0 }) => {}
        other => panic!("{other:?}"),
    }
    drop(held);
    assert_eq!(content(&pool.fetch(PageId(5), CommitTs(1)).unwrap()), 5001);
}

#[test]
fn snapshots_find_their_versions_until_purged() {
    let (_, _, pool) = pool(8, 4);
    pool.fetch(PageId(2), CommitTs(1)).unwrap();
    for ts in 2..5 {
        change(&pool, 2, ts);
    }
    let seen: Vec<u64> =
        (1..6).map(|ts| content(&pool.fetch(PageId(2), CommitTs(ts)).unwrap())).collect();
    assert_eq!(seen, [2001, 2002, 2003, 2004, 2004]);
    // Only the snapshot at 2 is left: the version [2, 3) stays.
    pool.purge(|begin, end| (begin..end).contains(&CommitTs(2)));
    assert_eq!(pool.counts().retained, 1);
    assert_eq!(content(&pool.fetch(PageId(2), CommitTs(2)).unwrap()), 2002);
    assert!(matches!(
        pool.fetch(PageId(2), CommitTs(1)),
        Err(Error::VersionMissing { page: 2, snapshot: 1 })
    ));
}

#[test]
fn a_replaced_version_is_kept_even_when_it_had_left_the_pool() {
    let (_, _, pool) = pool(64, 4);
    change(&pool, 2, 2);
    assert_eq!(content(&pool.fetch(PageId(2), CommitTs(1)).unwrap()), 2001);
    assert_eq!(content(&pool.fetch(PageId(2), CommitTs(2)).unwrap()), 2002);
}

#[test]
fn a_page_written_through_is_read_anew() {
    let (_, pager, pool) = pool(8, 4);
    publish(&pool, 3, 2);
    let pinned = pool.fetch(PageId(3), CommitTs(2)).unwrap();
    pager.write_born(&[&numbered(3, CommitTs(5))]).unwrap();
    let gone = Gone { freed: &[], written_through: &[PageId(3)] };
    pool.publish(Vec::new(), &gone, CommitTs(5));
    assert_eq!(pool.counts().dirty, 0, "the earlier page must not be written over it");
    assert_eq!(content(&pool.fetch(PageId(3), CommitTs(5)).unwrap()), 3005);
    assert_eq!(content(&pinned), 3002);
    assert_eq!((pool.counts().resident, pool.counts().retained), (1, 0));
}

#[test]
fn a_freed_dirty_page_is_never_written() {
    let (_, pager, pool) = pool(8, 4);
    publish(&pool, 3, 2);
    pool.publish(Vec::new(), &Gone { freed: &[PageId(3)], written_through: &[] }, CommitTs(3));
    assert_eq!(pool.write_back(&pool.dirty_pages()).unwrap(), 0);
    assert_eq!(content(&pager.read(PageId(3)).unwrap()), 3001);
    assert_eq!(content(&pool.fetch(PageId(3), CommitTs(2)).unwrap()), 3002);
}

#[test]
fn a_failed_read_is_told_and_tried_again() {
    let (fs, _, pool) = pool(8, 4);
    fs.corrupt("pool.hop", 2 * PAGE as u64 + 777, 1);
    for _ in 0..2 {
        match pool.fetch(PageId(2), CommitTs(1)) {
            Err(Error::CorruptPage { page: 2, .. }) => {}
            other => panic!("{other:?}"),
        }
    }
    fs.corrupt("pool.hop", 2 * PAGE as u64 + 777, 1);
    assert_eq!(content(&pool.fetch(PageId(2), CommitTs(1)).unwrap()), 2001);
    assert_eq!(pool.counts().resident, 1, "failed reads give their frame back");
}

#[test]
fn many_threads_find_the_right_bytes_in_few_frames() {
    let (_, _, pool) = pool(64, 4);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let pool = &pool;
            scope.spawn(move || {
                let mut random = fastrand::Rng::with_seed(thread);
                for _ in 0..10_000 {
                    let id = random.u64(0..64);
                    let page = pool.fetch(PageId(id), CommitTs(1)).unwrap();
                    assert_eq!(content(&page), id * 1000 + 1);
                }
            });
        }
    });
    assert!(pool.counts().resident <= 4);
}
