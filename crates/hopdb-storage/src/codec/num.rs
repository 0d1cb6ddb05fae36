//! Checked width changes, and little-endian fields at a byte offset: the one place for both.
//!
//! Invariant: nothing is ever silently truncated. A number that does not fit, or a field that lies
//! outside its slice, is a bug of the caller (bytes from outside are checked before they get here)
//! and panics at the caller's line.

/// A file or page offset as an index into memory.
///
/// # Panics
/// If `value` exceeds the address space (possible only on a 32-bit machine).
#[inline]
#[track_caller]
#[must_use]
pub fn to_usize(value: u64) -> usize {
    match usize::try_from(value) {
        Ok(narrow) => narrow,
        Err(_) => does_not_fit(value, "usize"),
    }
}

/// A count or length as a `u8` field.
///
/// # Panics
/// If `value` exceeds `u8::MAX`.
#[inline]
#[track_caller]
#[must_use]
pub fn to_u8(value: usize) -> u8 {
    match u8::try_from(value) {
        Ok(narrow) => narrow,
        Err(_) => does_not_fit(len_u64(value), "u8"),
    }
}

/// A count, length or in-page offset as a `u16` field.
///
/// # Panics
/// If `value` exceeds `u16::MAX`.
#[inline]
#[track_caller]
#[must_use]
pub fn to_u16(value: usize) -> u16 {
    match u16::try_from(value) {
        Ok(narrow) => narrow,
        Err(_) => does_not_fit(len_u64(value), "u16"),
    }
}

/// A count or length as a `u32` field.
///
/// # Panics
/// If `value` exceeds `u32::MAX`.
#[inline]
#[track_caller]
#[must_use]
pub fn to_u32(value: usize) -> u32 {
    match u32::try_from(value) {
        Ok(narrow) => narrow,
        Err(_) => does_not_fit(len_u64(value), "u32"),
    }
}

/// A length in memory as a `u64`; always fits on the machines Rust supports.
///
/// # Panics
/// Never in practice: `usize` is at most 64 bits wide.
#[inline]
#[track_caller]
#[must_use]
pub fn len_u64(value: usize) -> u64 {
    match u64::try_from(value) {
        Ok(wide) => wide,
        Err(_) => does_not_fit(u64::MAX, "u64"),
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn does_not_fit(value: u64, target: &str) -> ! {
    panic!("number {value} does not fit in {target}")
}

/// The little-endian `u16` at byte `at`.
///
/// # Panics
/// If the field lies outside `bytes`.
#[inline]
#[track_caller]
#[must_use]
pub fn get_u16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(field(bytes, at))
}

/// The little-endian `u32` at byte `at`.
///
/// # Panics
/// If the field lies outside `bytes`.
#[inline]
#[track_caller]
#[must_use]
pub fn get_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(field(bytes, at))
}

/// The little-endian `u64` at byte `at`.
///
/// # Panics
/// If the field lies outside `bytes`.
#[inline]
#[track_caller]
#[must_use]
pub fn get_u64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(field(bytes, at))
}

/// Writes `value` as a little-endian `u16` at byte `at`.
///
/// # Panics
/// If the field lies outside `bytes`.
#[inline]
#[track_caller]
pub fn put_u16(bytes: &mut [u8], at: usize, value: u16) {
    put_field(bytes, at, value.to_le_bytes());
}

/// Writes `value` as a little-endian `u32` at byte `at`.
///
/// # Panics
/// If the field lies outside `bytes`.
#[inline]
#[track_caller]
pub fn put_u32(bytes: &mut [u8], at: usize, value: u32) {
    put_field(bytes, at, value.to_le_bytes());
}

/// Writes `value` as a little-endian `u64` at byte `at`.
///
/// # Panics
/// If the field lies outside `bytes`.
#[inline]
#[track_caller]
pub fn put_u64(bytes: &mut [u8], at: usize, value: u64) {
    put_field(bytes, at, value.to_le_bytes());
}

#[inline]
#[track_caller]
fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    match bytes.get(at..).and_then(|rest| rest.first_chunk::<N>()) {
        Some(chunk) => *chunk,
        None => outside(at, N, bytes.len()),
    }
}

#[inline]
#[track_caller]
fn put_field<const N: usize>(bytes: &mut [u8], at: usize, value: [u8; N]) {
    let len = bytes.len();
    match bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<N>()) {
        Some(chunk) => *chunk = value,
        None => outside(at, N, len),
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn outside(at: usize, width: usize, len: usize) -> ! {
    panic!("field of {width} bytes at {at} lies outside a slice of {len} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_little_endian_at_any_offset() {
        let mut bytes = [0; 16];
        put_u16(&mut bytes, 1, 0x0102);
        put_u32(&mut bytes, 3, 0x0304_0506);
        put_u64(&mut bytes, 8, u64::MAX - 1);
        assert_eq!(bytes[..8], [0, 2, 1, 6, 5, 4, 3, 0]);
        assert_eq!(get_u16(&bytes, 1), 0x0102);
        assert_eq!(get_u32(&bytes, 3), 0x0304_0506);
        assert_eq!(get_u64(&bytes, 8), u64::MAX - 1);
    }

    #[test]
    fn numbers_that_fit_pass_unchanged() {
        assert_eq!(to_u8(255), u8::MAX);
        assert_eq!(to_u16(65_535), u16::MAX);
        assert_eq!(to_u32(4_294_967_295), u32::MAX);
        assert_eq!(to_usize(7), 7);
        assert_eq!(len_u64(7), 7);
    }

    #[test]
    #[should_panic(expected = "number 65536 does not fit in u16")]
    fn a_number_that_does_not_fit_says_so() {
        let _ = to_u16(65_536);
    }

    #[test]
    #[should_panic(expected = "field of 8 bytes at 1 lies outside a slice of 8 bytes")]
    fn a_field_outside_its_slice_says_so() {
        let _ = get_u64(&[0; 8], 1);
    }

    #[test]
    #[should_panic(expected = "lies outside")]
    fn an_offset_near_the_end_of_memory_does_not_wrap() {
        put_u32(&mut [0; 8], usize::MAX - 1, 1);
    }
}
