//! Finding a few bytes in text, eight bytes at a time.
//!
//! Fields are short: a search that is called once a field and prepares a wide register each time
//! costs more than it finds. A word of eight bytes shows all its hits at once, and the caller takes
//! them one by one. (Comparing eight bytes in one word: Hacker's Delight, 6-1.)
//!
//! Invariant: a hit is exact for every byte of the word, not only for the first.

/// Bytes to look for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needles<const N: usize> {
    /// Each byte, eight times.
    patterns: [u64; N],
}

pub(super) const WORD_BYTES: usize = 8;

const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;

impl<const N: usize> Needles<N> {
    pub(super) fn new(bytes: [u8; N]) -> Self {
        Self { patterns: bytes.map(|byte| u64::from_le_bytes([byte; WORD_BYTES])) }
    }

    /// Where in the eight bytes from `at` the needles are: the highest bit of each byte that is
    /// one, the first byte lowest. None are found behind the end of `text`.
    #[inline]
    pub(super) fn hits(self, text: &[u8], at: usize) -> u64 {
        let rest = text.get(at..).unwrap_or_default();
        match rest.first_chunk() {
            Some(word) => self.in_word(u64::from_le_bytes(*word)),
            None => self.in_tail(rest),
        }
    }

    /// The place of the first needle from `at` on; `text`'s end when there is none.
    #[inline]
    pub(super) fn find(self, text: &[u8], mut at: usize) -> usize {
        while at < text.len() {
            let hits = self.hits(text, at);
            if hits != 0 {
                return at + first(hits);
            }
            at += WORD_BYTES;
        }
        text.len()
    }

    /// Appends the bytes from `at` to the first needle to `out`, and gives its place as
    /// [`Needles::find`] does.
    #[inline]
    pub(super) fn copy_until(self, text: &[u8], mut at: usize, out: &mut Vec<u8>) -> usize {
        // As in `append`.
        while let Some(word) = text.get(at..).and_then(<[u8]>::first_chunk::<WORD_BYTES>) {
            let hits = self.in_word(u64::from_le_bytes(*word));
            out.extend_from_slice(word);
            if hits != 0 {
                out.truncate(out.len() - WORD_BYTES + first(hits));
                return at + first(hits);
            }
            at += WORD_BYTES;
        }
        let found = self.find(text, at);
        out.extend_from_slice(text.get(at..found).unwrap_or_default());
        found
    }

    #[inline]
    fn in_word(self, word: u64) -> u64 {
        let mut other = u64::MAX;
        for pattern in self.patterns {
            let difference = word ^ pattern;
            // The highest bit of a byte stays clear only where nothing differs.
            other &= ((difference & LOW) + LOW) | difference;
        }
        !(other | LOW)
    }

    fn in_tail(self, rest: &[u8]) -> u64 {
        let mut word = [0; WORD_BYTES];
        word[..rest.len()].copy_from_slice(rest);
        let present = (1_u64 << (8 * rest.len())) - 1;
        self.in_word(u64::from_le_bytes(word)) & present
    }
}

/// Appends `text[start..end]` to `out`. Most copies are short: eight bytes at once, and then back,
/// beats a call to copy three.
#[inline]
pub(super) fn append(text: &[u8], start: usize, end: usize, out: &mut Vec<u8>) {
    match text[start..].first_chunk::<WORD_BYTES>() {
        Some(word) if end - start < WORD_BYTES => {
            out.extend_from_slice(word);
            out.truncate(out.len() - WORD_BYTES + (end - start));
        }
        _ => out.extend_from_slice(&text[start..end]),
    }
}

/// The offset of the first of `hits`, which has one.
#[inline]
pub(super) fn first(hits: u64) -> usize {
    hits.trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn hits_are_those_of_a_loop(
            text in proptest::collection::vec(prop::sample::select(vec![0, 1, b',', 0x80, 0x81, 0xff]), 0..40),
            needles in prop::array::uniform2(prop::sample::select(vec![0, 1, b',', 0x80, 0xff])),
            at in 0..45_usize,
        ) {
            let searched = Needles::new(needles);
            let expected = (at..text.len()).find(|&index| needles.contains(&text[index]));
            let expected = expected.unwrap_or(text.len());
            prop_assert_eq!(searched.find(&text, at), expected);
            let mut copied = b"before".to_vec();
            prop_assert_eq!(searched.copy_until(&text, at, &mut copied), expected);
            prop_assert_eq!(&copied[6..], text.get(at..expected).unwrap_or_default());
            let mut hits = searched.hits(&text, at);
            for (index, byte) in text.iter().enumerate().skip(at).take(WORD_BYTES) {
                if needles.contains(byte) {
                    prop_assert_eq!(at + first(hits), index);
                    hits &= hits - 1;
                }
            }
            prop_assert_eq!(hits, 0);
        }
    }
}
