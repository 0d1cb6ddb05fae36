//! Sizes as users write them: plain bytes, or with KiB, MiB, GiB.

use std::str::FromStr;

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteSize(pub(crate) usize);

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no size; write 4096, 64KiB, 64MiB or 1GiB");
        let lower = text.trim().to_ascii_lowercase();
        let units = [("kib", 1_usize << 10), ("mib", 1 << 20), ("gib", 1 << 30)];
        let unit = units.iter().find_map(|(unit, size)| Some((lower.strip_suffix(unit)?, *size)));
        let (number, size) = unit.unwrap_or((lower.as_str(), 1));
        let number: usize = number.trim().parse().map_err(|_| wrong())?;
        let bytes = number.checked_mul(size).ok_or_else(|| format!("{text} is too much"))?;
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        for (text, bytes) in
            [("4096", 4096), ("64KiB", 65_536), ("1 mib", 1 << 20), ("2GIB", 2 << 30)]
        {
            assert_eq!(text.parse(), Ok(ByteSize(bytes)), "{text}");
        }
        for text in ["", "KiB", "64KB", "-1", "1.5MiB", "99999999999999999999", "99999999999GiB"] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
    }
}
