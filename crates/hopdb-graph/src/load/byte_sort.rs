//! Ordering entries of bytes by their keys, within a memory budget: index entries, and properties of relationships.
//!
//! Entries are gathered; when the budget is full they are sorted and written out as a run, and in the end runs are
//! merged. What fits the budget is never written. Keys are all different: whoever pushes puts an id at their end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hopdb_storage::codec::num::len_u64;

use super::spill::{Run, RunFile, RunReader, Scratch, read_buffer_bytes};
use crate::error::Result;

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Eight bytes of the key, behind what all keys begin with: most comparisons end here.
    head: u64,
    start: usize,
    key_len: u32,
    value_len: u32,
}

impl Entry {
    fn key<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        &bytes[self.start..self.start + self.key_len as usize]
    }

    fn value<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        let start = self.start + self.key_len as usize;
        &bytes[start..start + self.value_len as usize]
    }
}

/// The first eight bytes, zeros where there are fewer.
fn head(key: &[u8]) -> u64 {
    let mut head = [0; 8];
    let len = key.len().min(8);
    head[..len].copy_from_slice(&key[..len]);
    u64::from_be_bytes(head)
}

/// Gathers entries and sorts them.
#[derive(Debug)]
pub(super) struct ByteSorter {
    file: RunFile,
    bytes_max: usize,
    entries: Vec<Entry>,
    bytes: Vec<u8>,
    runs: Vec<Run>,
}

impl ByteSorter {
    /// A sorter that holds entries in about `bytes` of memory.
    pub(super) fn new(scratch: &Scratch, bytes: usize) -> Self {
        // While the vectors grow, what they held is there as well.
        let bytes_max = (bytes / 2).max(4096);
        let file = RunFile::new(scratch);
        Self { file, bytes_max, entries: Vec::new(), bytes: Vec::new(), runs: Vec::new() }
    }

    /// Takes an entry.
    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let short = |len: usize| u32::try_from(len).expect("keys and values are below 4 GiB");
        self.entries.push(Entry {
            head: 0,
            start: self.bytes.len(),
            key_len: short(key.len()),
            value_len: short(value.len()),
        });
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        let held = self.bytes.len() + self.entries.len() * size_of::<Entry>();
        if held >= self.bytes_max { self.spill() } else { Ok(()) }
    }

    fn sort(&mut self) {
        self.look_behind_common_start();
        let bytes = &self.bytes;
        self.entries.sort_unstable_by(|a, b| {
            a.head.cmp(&b.head).then_with(|| a.key(bytes).cmp(b.key(bytes)))
        });
    }

    /// Keys of an index mostly begin alike: what orders them is behind that.
    fn look_behind_common_start(&mut self) {
        let bytes = &self.bytes;
        let Some(first) = self.entries.first() else { return };
        let mut common = first.key(bytes);
        for entry in &self.entries {
            let key = entry.key(bytes);
            let same = common.iter().zip(key).take_while(|(a, b)| a == b).count();
            common = &common[..same];
        }
        let start = common.len();
        for entry in &mut self.entries {
            entry.head = head(&entry.key(bytes)[start..]);
        }
    }

    fn spill(&mut self) -> Result<()> {
        self.sort();
        let mut run = self.file.begin()?;
        for entry in &self.entries {
            let (key, value) = (entry.key(&self.bytes), entry.value(&self.bytes));
            for bytes in
                [&entry.key_len.to_le_bytes()[..], &entry.value_len.to_le_bytes(), key, value]
            {
                run.put(bytes)?;
            }
        }
        self.runs.push(run.finish()?);
        self.entries.clear();
        self.bytes.clear();
        Ok(())
    }

    /// Sorts what was pushed.
    pub(super) fn finish(mut self) -> Result<SortedEntries> {
        if self.runs.is_empty() {
            self.sort();
            return Ok(SortedEntries::Memory { entries: self.entries, bytes: self.bytes });
        }
        if !self.entries.is_empty() {
            self.spill()?;
        }
        Ok(SortedEntries::Runs { runs: self.runs, bytes: self.bytes_max })
    }
}

/// Sorted entries.
#[derive(Debug)]
pub(super) enum SortedEntries {
    Memory {
        entries: Vec<Entry>,
        bytes: Vec<u8>,
    },
    Runs {
        runs: Vec<Run>,
        /// For read buffers.
        bytes: usize,
    },
}

impl SortedEntries {
    /// Reads the entries in order.
    pub(super) fn stream(&self) -> Result<EntryStream<'_>> {
        Ok(match self {
            Self::Memory { entries, bytes } => EntryStream::Memory { entries, bytes },
            Self::Runs { runs, bytes } => {
                let buffer = read_buffer_bytes(*bytes, runs.len());
                let mut readers: Vec<_> = runs.iter().map(|run| run.reader(buffer)).collect();
                let mut heads = BinaryHeap::new();
                for (run, reader) in readers.iter_mut().enumerate() {
                    if let Some((key, value)) = next_entry(reader)? {
                        heads.push(Reverse((key, run, value)));
                    }
                }
                EntryStream::Runs { heads, readers, current: None }
            }
        })
    }
}

/// Key, run and value of an entry that is the next of its run.
type Head = Reverse<(Vec<u8>, usize, Vec<u8>)>;

/// Reads sorted entries.
#[derive(Debug)]
pub(super) enum EntryStream<'s> {
    Memory { entries: &'s [Entry], bytes: &'s [u8] },
    Runs { heads: BinaryHeap<Head>, readers: Vec<RunReader<'s>>, current: Option<Head> },
}

impl EntryStream<'_> {
    /// Key and value of the next entry; `None` behind the last.
    pub(super) fn next(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        match self {
            Self::Memory { entries, bytes } => {
                let Some((first, rest)) = entries.split_first() else { return Ok(None) };
                *entries = rest;
                Ok(Some((first.key(bytes), first.value(bytes))))
            }
            Self::Runs { heads, readers, current } => {
                *current = heads.pop();
                let Some(Reverse((key, run, value))) = current.as_ref() else { return Ok(None) };
                if let Some((key, value)) = next_entry(&mut readers[*run])? {
                    heads.push(Reverse((key, *run, value)));
                }
                Ok(Some((key, value)))
            }
        }
    }
}

fn next_entry(reader: &mut RunReader<'_>) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
    let Some(lens) = reader.take(8)? else { return Ok(None) };
    let len = |bytes: &[u8]| {
        let len = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
        usize::try_from(len).expect("it was in memory")
    };
    let (key_len, value_len) = (len(&lens[..4]), len(&lens[4..]));
    let both = reader.take(key_len + value_len)?;
    let both = both.expect("a run ends behind an entry");
    debug_assert_eq!(len_u64(both.len()), len_u64(key_len + value_len));
    Ok(Some((both[..key_len].to_vec(), both[key_len..].to_vec())))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::sync::Arc;

    use hopdb_storage::io::sim::SimFs;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn entries_come_sorted_whether_they_fit_or_not(
            entries in vec((vec(0_u8..3, 0..12), vec(any::<u8>(), 0..30)), 0..80),
            bytes_max in prop_oneof![Just(1_usize), 1_usize..2_000, Just(1 << 20)],
        ) {
            let fs = Arc::new(SimFs::new(1));
            let scratch = Scratch::new(fs, Path::new("/data"));
            let mut sorter = ByteSorter { bytes_max, ..ByteSorter::new(&scratch, 0) };
            let expected: BTreeMap<_, _> = entries.into_iter().collect();
            // Not in the order of the keys.
            for (key, value) in expected.iter().rev() {
                sorter.push(key, value).unwrap();
            }
            let sorted = sorter.finish().unwrap();
            for _ in 0..2 {
                let mut stream = sorted.stream().unwrap();
                for (key, value) in &expected {
                    prop_assert_eq!(stream.next().unwrap(), Some((&key[..], &value[..])));
                }
                prop_assert_eq!(stream.next().unwrap(), None);
            }
        }
    }
}
