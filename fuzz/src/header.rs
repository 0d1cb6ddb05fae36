//! The two header slots. Input: a byte of choices, then the slots, as far as it goes; what it lacks stays as it was.

use xxhash_rust::xxh3::xxh3_64;

use crate::usage::use_all;
use crate::{Opened, PAGE, closed, crashed, overlay};

const SLOT: usize = 128;
const AT_CHECKSUM: usize = 120;
/// Choices: the database that was not closed; the checksum of each slot made right.
const CRASHED: u8 = 1;
const SEAL: [u8; 2] = [2, 4];

/// Opens the database with such headers.
pub fn run(input: &[u8]) -> Opened {
    let (choices, slots) = input.split_first()?;
    let mut files = if choices & CRASHED != 0 { crashed().clone() } else { closed().clone() };
    for (number, bytes) in slots.chunks(SLOT).take(2).enumerate() {
        let slot = &mut files.file[number * PAGE..][..SLOT];
        overlay(slot, 0, bytes);
        if choices & SEAL[number] != 0 {
            let sum = xxh3_64(&slot[..AT_CHECKSUM]);
            overlay(slot, AT_CHECKSUM, &sum.to_le_bytes());
        }
    }
    use_all(&files.disk(), 0)
}

/// Inputs that change nothing, and so open.
pub fn seeds() -> Vec<Vec<u8>> {
    let seed = |choices: u8, file: &[u8]| {
        [&[choices | SEAL[0] | SEAL[1]], &file[..SLOT], &file[PAGE..PAGE + SLOT]].concat()
    };
    vec![seed(0, &closed().file), seed(CRASHED, &crashed().file)]
}
