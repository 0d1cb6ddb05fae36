//! `cargo xtask`: the chores of this repository, one subcommand each.
//!
//! A program for developers: it may print, read files and start processes. Nothing depends on it.
//! A new chore is a module with a `run` and a variant of [`Command`].

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a developer's program: it prints, and works on the files of the checkout"
)]

mod faults;
mod hop;
mod kill;
mod mutants;
mod page;
mod sim;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Chores of the HopDB repository.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check the house rules: sizes, module order, crate walls, links, words.
    ///
    /// Prints each finding as `path:line: message` and exits with 1 when there is any.
    Tidy,
    /// Simulate crashes, faults and rot under the storage engine. Best with `--release`.
    ///
    /// Prints each failure with its seed and step, and exits with 1 when there is any.
    Sim(sim::SimArgs),
    /// Let system calls of `hop` fail, one after another, and fill its disk.
    ///
    /// Builds the release binary first. Needs strace. Exits with 1 when anything acknowledged is lost, or an
    /// error is not told.
    Faults(faults::FaultsArgs),
    /// Kill `hop` during loads and commits at random moments, and see what is left.
    ///
    /// Builds the release binary first. Exits with 1 when anything acknowledged is lost.
    Kill(kill::KillArgs),
    /// Switch on defects of the storage engine, one at a time, and see that the simulations find each. Best with
    /// `--release`.
    ///
    /// Prints a line for each, and exits with 1 when one is not found.
    Mutants(mutants::MutantsArgs),
    /// Build the page in `web/` and put it into the crate that serves it, for its package.
    Page,
}

fn main() -> ExitCode {
    let result = match Args::parse().command {
        Command::Tidy => tidy::run(&workspace_root()),
        Command::Sim(args) => sim::run(&workspace_root(), &args),
        Command::Faults(args) => faults::run(&workspace_root(), &args),
        Command::Mutants(args) => mutants::run(&workspace_root(), &args),
        Command::Kill(args) => kill::run(&workspace_root(), &args),
        Command::Page => page::run(&workspace_root()),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// The folder above this crate as `cargo run` tells it, else the current one.
fn workspace_root() -> PathBuf {
    let manifest_dir = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    manifest_dir
        .as_deref()
        .and_then(Path::parent)
        .map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}
