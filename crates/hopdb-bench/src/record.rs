//! Measurements: gathered, printed as a table, written as JSON.

use std::fs;
use std::io;
use std::path::Path;

use serde::Serialize;

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

/// One measurement of one engine: the median of several repetitions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    /// Suite: the command that measured.
    pub suite: String,
    /// Id of the workload.
    pub workload: String,
    /// `hopdb`, or the peer's name in lower case.
    pub engine: String,
    /// What was measured: `seconds`, `ops_per_second`, `p50_us`, `p99_us`, `bytes`, `peak_bytes`, `pages_read`,
    /// `ratio`.
    pub metric: String,
    /// Median.
    pub value: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Unit of the values.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// Version of the engine.
    pub version: String,
    /// Settings that differ from the defaults, and counts of repetitions.
    pub settings: String,
}

/// Median, minimum and maximum of some values.
#[must_use]
pub fn spread(values: &[f64]) -> (f64, f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => (f64::NAN, f64::NAN, f64::NAN),
        n if n % 2 == 1 => (sorted[n / 2], sorted[0], sorted[n - 1]),
        n => (f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]), sorted[0], sorted[n - 1]),
    }
}

/// The value below which `percent` of the values lie.
#[must_use]
pub fn percentile(values: &[f64], percent: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((sorted.len() * percent / 100).min(last)).copied().unwrap_or(f64::NAN)
}

/// All records of a run.
#[derive(Debug)]
pub struct Report {
    suite: &'static str,
    records: Vec<Record>,
    notes: Vec<String>,
}

/// What is measured of whom.
#[derive(Clone, Debug)]
pub struct What<'a> {
    /// Id of the workload.
    pub workload: &'a str,
    /// The engine.
    pub engine: &'a str,
    /// Its version.
    pub version: &'a str,
    /// Metric and unit.
    pub metric: (&'a str, &'a str),
    /// Which way is better.
    pub better: Better,
    /// Settings.
    pub settings: &'a str,
}

impl Report {
    /// An empty report of a suite.
    #[must_use]
    pub fn new(suite: &'static str) -> Self {
        Self { suite, records: Vec::new(), notes: Vec::new() }
    }

    /// Adds a measurement from its repetitions; gives the median.
    pub fn add(&mut self, what: &What<'_>, values: &[f64]) -> f64 {
        let (value, min, max) = spread(values);
        self.records.push(Record {
            suite: self.suite.into(),
            workload: what.workload.into(),
            engine: what.engine.into(),
            metric: what.metric.0.into(),
            value,
            min,
            max,
            unit: what.metric.1.into(),
            better: what.better,
            version: what.version.into(),
            settings: what.settings.into(),
        });
        value
    }

    /// Adds a line that is printed under the table, once.
    pub fn note(&mut self, line: String) {
        if !self.notes.contains(&line) {
            self.notes.push(line);
        }
    }

    /// The records so far.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Prints the table and the notes, and writes the records as a JSON array where a file is named.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn finish(&self, json: Option<&Path>) -> io::Result<()> {
        self.print();
        match json {
            Some(path) => fs::write(path, serde_json::to_vec_pretty(&self.records)?),
            None => Ok(()),
        }
    }

    fn print(&self) {
        let row = |record: &Record| {
            [
                record.workload.clone(),
                format!("{} {}", record.engine, record.version),
                record.metric.clone(),
                number(record.value),
                number(record.min),
                number(record.max),
                record.unit.clone(),
            ]
        };
        let head = ["workload", "engine", "metric", "median", "min", "max", "unit"];
        let mut rows = vec![head.map(String::from)];
        rows.extend(self.records.iter().map(row));
        let widths: Vec<usize> = (0..head.len())
            .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
            .collect();
        for row in &rows {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .enumerate()
                .map(|(column, (cell, width))| {
                    if (3..6).contains(&column) {
                        format!("{cell:>width$}")
                    } else {
                        format!("{cell:<width$}")
                    }
                })
                .collect();
            println!("{}", cells.join("  ").trim_end());
        }
        for note in &self.notes {
            println!("{note}");
        }
    }
}

fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 1000.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_percentiles() {
        assert_eq!(spread(&[3.0, 1.0, 2.0]), (2.0, 1.0, 3.0));
        assert_eq!(spread(&[4.0, 1.0, 2.0, 3.0]), (2.5, 1.0, 4.0));
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(percentile(&values, 99), 99.0);
        assert_eq!(percentile(&values, 50), 50.0);
        assert!(percentile(&[], 50).is_nan());
    }

    #[test]
    fn records_have_the_fields_that_readers_expect() {
        let mut report = Report::new("walk");
        let what = What {
            workload: "walk-2",
            engine: "hopdb",
            version: "0.1.0",
            metric: ("p50_us", "us"),
            better: Better::Lower,
            settings: "",
        };
        report.add(&what, &[1.0, 2.0, 9.0]);
        let json = serde_json::to_value(report.records()).unwrap();
        let expected = serde_json::json!([{
            "suite": "walk", "workload": "walk-2", "engine": "hopdb", "metric": "p50_us",
            "value": 2.0, "min": 1.0, "max": 9.0, "unit": "us", "better": "lower",
            "version": "0.1.0", "settings": ""
        }]);
        assert_eq!(json, expected);
    }
}
