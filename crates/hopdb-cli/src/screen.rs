//! Standard output: buffered text, JSON, and numbers as people read them.
//!
//! Colour appears on a terminal alone, and never where `NO_COLOR` is set. Nothing here knows what is shown.

use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::time::Duration;

use serde::Serialize;

use crate::failure::Failure;

/// A line on standard error. Nothing happens when nobody reads there: the work goes on.
pub(crate) fn tell(text: impl fmt::Display) {
    drop(writeln!(io::stderr(), "{text}"));
}

/// Standard output.
pub(crate) struct Screen {
    out: BufWriter<Stdout>,
    colour: bool,
}

impl Screen {
    pub(crate) fn new() -> Self {
        let out = io::stdout();
        let plain = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        let colour = out.is_terminal() && !plain("NO_COLOR") && !dumb;
        Self { out: BufWriter::new(out), colour }
    }

    /// Sends what is buffered.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        Ok(self.out.flush()?)
    }

    /// One line of JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        serde_json::to_writer(&mut self.out, value).map_err(io::Error::from)?;
        Ok(writeln!(self.out)?)
    }

    /// A headline: bold on a terminal.
    pub(crate) fn headline(&mut self, text: &str) -> Result<(), Failure> {
        let text = self.styled("1", text);
        Ok(writeln!(self.out, "{text}")?)
    }

    /// Text of less weight: dim on a terminal.
    pub(crate) fn dim(&self, text: &str) -> String {
        self.styled("2", text)
    }

    /// Text that matters: bold and green on a terminal.
    pub(crate) fn strong(&self, text: &str) -> String {
        self.styled("1;32", text)
    }

    fn styled(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A whole number with commas between thousands.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things, in the singular for one.
pub(crate) fn counted(number: u64, singular: &str, plural: &str) -> String {
    format!("{} {}", count(number), if number == 1 { singular } else { plural })
}

/// A duration with three digits that matter.
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds >= 100.0 {
        format!("{seconds:.0} s")
    } else if seconds >= 1.0 {
        format!("{seconds:.2} s")
    } else if seconds >= 1e-3 {
        format!("{:.1} ms", seconds * 1e3)
    } else {
        format!("{:.1} µs", seconds * 1e6)
    }
}

/// Bytes in the largest unit that leaves a number over one.
pub(crate) fn bytes(bytes: u64) -> String {
    let units = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|(size, _)| bytes >= *size) {
        Some((size, unit)) if bytes.is_multiple_of(*size) => format!("{} {unit}", bytes / size),
        Some((size, unit)) => format!("{:.1} {unit}", ratio(bytes, *size)),
        None => format!("{bytes} bytes"),
    }
}

/// How many a second.
pub(crate) fn per_second(number: u64, time: Duration) -> u64 {
    let nanos = time.as_nanos().max(1);
    u64::try_from(u128::from(number) * 1_000_000_000 / nanos).unwrap_or(u64::MAX)
}

/// A part of a whole number, as a float; 0 of nothing.
#[expect(clippy::cast_precision_loss, reason = "shown with few digits")]
pub(crate) fn ratio(part: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { part as f64 / of as f64 }
}

/// Whole microseconds.
pub(crate) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Lines of a label and a value, the values' right ends one below the other.
#[derive(Default)]
pub(crate) struct Rows {
    rows: Vec<(String, String, String)>,
}

impl Rows {
    /// A line; `note` stands behind the value.
    pub(crate) fn add(
        &mut self,
        label: impl Into<String>,
        value: impl Into<String>,
        note: impl Into<String>,
    ) -> &mut Self {
        self.rows.push((label.into(), value.into(), note.into()));
        self
    }
}

impl fmt::Display for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |text: fn(&(String, String, String)) -> &String| {
            self.rows.iter().map(|row| text(row).chars().count()).max().unwrap_or(0)
        };
        let (labels, values) = (width(|row| &row.0), width(|row| &row.1));
        for (label, value, note) in &self.rows {
            let line = format!("  {label:labels$}  {value:>values$}  {note}");
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(counted(1, "page", "pages"), "1 page");
        assert_eq!([12, 4096, 1_500_000].map(bytes), ["12 bytes", "4 KiB", "1.4 MiB"]);
        let times = [1_500, 2_500_000, 1_230_000_000, 200_000_000_000].map(Duration::from_nanos);
        assert_eq!(times.map(duration), ["1.5 µs", "2.5 ms", "1.23 s", "200 s"]);
        assert_eq!(per_second(10, Duration::from_millis(500)), 20);
    }

    #[test]
    fn rows_stand_in_columns() {
        let mut rows = Rows::default();
        rows.add("nodes", "10", "").add("x", "1,000", "of all");
        assert_eq!(rows.to_string(), "  nodes     10\n  x      1,000  of all\n");
    }
}
