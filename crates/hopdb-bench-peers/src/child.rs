//! Loads by the engines that this program holds, each in a process of its own: this program, started again.
//!
//! So their peak memory is that of the load alone, and they begin as fresh as a peer that is another program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::{Args, ValueEnum};
use hopdb_bench::friends::Files;

use crate::engine::Load;
use crate::{Outcome, hopdb_engine, sqlite};

/// The hidden subcommand that loads.
pub(crate) const SUBCOMMAND: &str = "load-here";

/// An engine within this program.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Held {
    Hopdb,
    Sqlite,
}

/// What is loaded, by whom, and where to.
#[derive(Args)]
pub(crate) struct LoadHere {
    engine: Held,
    people: PathBuf,
    friends: PathBuf,
    database: PathBuf,
}

/// Starts this program again for a load.
pub(crate) fn load(
    engine: Held,
    files: &Files,
    database: &Path,
    memory_bytes: Option<u64>,
) -> Outcome<Load> {
    let mut command = Command::new(std::env::current_exe()?);
    let name = engine.to_possible_value().ok_or("an engine without a name")?;
    command.arg(SUBCOMMAND).arg(name.get_name());
    command.args([&files.people, &files.friends]).arg(database);
    if let Some(bytes) = memory_bytes {
        command.arg("--memory").arg(bytes.to_string());
    }
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{command:?} ended with {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The load itself, in the process that was started for it; prints a [`Load`] as JSON.
pub(crate) fn load_here(what: LoadHere, memory_bytes: Option<u64>) -> Outcome<()> {
    let LoadHere { engine, people, friends, database } = what;
    let files = Files { people, friends };
    let (seconds, relationships) = match engine {
        Held::Hopdb => hopdb_engine::load_here(&files, &database, memory_bytes)?,
        Held::Sqlite => sqlite::load_here(&files, &database)?,
    };
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak_bytes = peak_bytes(&status);
    let load = Load { seconds, peak_bytes, relationships: Some(relationships) };
    println!("{}", serde_json::to_string(&load)?);
    Ok(())
}

/// The line `VmHWM` of a process's status, in bytes.
fn peak_bytes(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u32 = line.split_whitespace().next()?.parse().ok()?;
    Some(f64::from(kibibytes) * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_is_read_from_a_status() {
        let status = "Name:\thop\nVmPeak:\t  9000 kB\nVmHWM:\t    1536 kB\nVmRSS:\t     12 kB\n";
        assert_eq!(peak_bytes(status), Some(1_572_864.0));
        assert_eq!(peak_bytes("VmHWM:\tmuch\n"), None);
        assert_eq!(peak_bytes(""), None);
    }
}
