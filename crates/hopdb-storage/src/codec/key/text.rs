//! Strings and bytes inside keys: escaped so that a single `00` can end them.
//!
//! `00` is written as `01 01` and `01` as `01 02`; all other bytes stand for themselves; `00` ends.
//! No escaped byte is `00`, so the end is the first one, and the shorter string sorts first; escapes
//! sort like the bytes they stand for. The end needs no second byte, as it would if only `00` were
//! escaped (`00 ff`), and the bytes that are escaped do not occur in ordinary text.

use std::borrow::Cow;

const END: u8 = 0x00;
const ESCAPE: u8 = 0x01;
/// Added to a byte that is escaped, so that none becomes [`END`].
const SHIFT: u8 = 0x01;

/// The first byte that is `limit` or below. Sixteen are tested at once, which compiles to vectors.
#[inline]
fn find_up_to(limit: u8, bytes: &[u8]) -> Option<usize> {
    let has_none = |chunk: &&[u8]| !chunk.iter().fold(false, |any, byte| any | (*byte <= limit));
    let clear = 16 * bytes.chunks_exact(16).take_while(has_none).count();
    bytes[clear..].iter().position(|byte| *byte <= limit).map(|at| clear + at)
}

/// Appends `text`, escaped, and its end.
pub(super) fn put(out: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text;
    while let Some(plain) = find_up_to(ESCAPE, rest) {
        out.extend_from_slice(&rest[..plain]);
        out.extend_from_slice(&[ESCAPE, rest[plain] + SHIFT]);
        rest = &rest[plain + 1..];
    }
    out.extend_from_slice(rest);
    out.push(END);
}

/// Length of the escaped text at the start of `bytes`, without its end; `None` if it has none.
pub(super) fn len(bytes: &[u8]) -> Option<usize> {
    find_up_to(END, bytes)
}

/// The text of escaped bytes; `Err` is the offset of an escape that means nothing.
pub(super) fn unescape(escaped: &[u8]) -> Result<Cow<'_, [u8]>, usize> {
    let Some(first) = find_up_to(ESCAPE, escaped) else {
        return Ok(Cow::Borrowed(escaped));
    };
    let mut text = Vec::with_capacity(escaped.len());
    text.extend_from_slice(&escaped[..first]);
    let mut bytes = escaped.iter().enumerate().skip(first);
    while let Some((at, byte)) = bytes.next() {
        if *byte != ESCAPE {
            text.push(*byte);
            continue;
        }
        match bytes.next() {
            Some((_, second @ (0x01 | 0x02))) => text.push(second - SHIFT),
            _ => return Err(at),
        }
    }
    Ok(Cow::Owned(text))
}
