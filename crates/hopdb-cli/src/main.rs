//! `hop`, the command line of HopDB: arguments in; text, JSON and an exit code out.
//!
//! One module a command, each with its arguments and a `run`; the others are what commands share:
//! - [`failure`]: everything that ends a command early, its message, hint and exit code.
//! - [`screen`]: standard output, numbers for people, JSON; [`dump`]: bytes beside what they mean.
//! - [`open`]: opening databases; recovery.
//! - [`names`], [`start`], [`size`]: what users write on the command line; [`arguments`] puts in what they write in files.
//! - [`interrupt`] has Ctrl-C; [`said`] writes lines that nobody waits for.
//!
//! Depends on the crate `hopdb`, and on the door `hopdb-server` that it opens; knows no format.

#![expect(
    clippy::disallowed_methods,
    reason = "a door: it reads the files and the environment of its user, and tells them what happens"
)]

mod arguments;
mod bench;
mod check;
mod completions;
mod demo;
mod dump;
mod export;
mod failure;
mod generate;
mod interrupt;
mod load;
mod names;
mod node;
mod open;
mod page;
mod said;
mod screen;
mod serve;
mod size;
mod start;
mod stat;
mod walk;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;
use screen::Screen;

const EXIT_CODES: &str = "\
Exit codes:
    0  done
    1  `check` found problems; nothing was found
    2  wrong usage or input: an option, a name, a file that is not there, a bad row
    3  the system refused, or the file is in use
    4  not a HopDB database, another format version, truncated or damaged
  130  interrupted

Start with:
  hop demo
  hop load --help";

/// HopDB, an embedded property-graph database: one file, walked in microseconds.
///
/// Every command works on a database file. Results go to standard output, as text or with --json
/// for programs; errors, hints and progress go to standard error. @FILE stands for the arguments in
/// FILE, one on each line.
#[derive(Parser)]
#[command(name = "hop", version, after_help = EXIT_CODES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::Args),
    Load(Box<load::Args>),
    Export(export::Args),
    Walk(walk::Args),
    Node(node::Args),
    Page(page::Args),
    Serve(serve::Args),
    Stat(stat::Args),
    Check(check::Args),
    Generate(generate::Args),
    Bench(bench::Args),
    Completions(completions::Args),
}

fn main() -> ExitCode {
    let mut screen = Screen::new();
    let done = arguments::expand(std::env::args_os())
        .and_then(|args| run(&Cli::parse_from(args).command, &mut screen))
        .and_then(|()| screen.finish());
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // What was found before goes out first; it cannot fail any worse.
            let _unsent = screen.finish();
            failure.tell();
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(command: &Command, screen: &mut Screen) -> Result<(), Failure> {
    match command {
        Command::Demo(args) => demo::run(args, screen),
        Command::Load(args) => load::run(args, screen),
        Command::Export(args) => export::run(args, screen),
        Command::Walk(args) => walk::run(args, screen),
        Command::Node(args) => node::run(args, screen),
        Command::Page(args) => page::run(args, screen),
        Command::Serve(args) => serve::run(args, screen),
        Command::Stat(args) => stat::run(args, screen),
        Command::Check(args) => check::run(args, screen),
        Command::Generate(args) => generate::run(args, screen),
        Command::Bench(args) => bench::run(args, screen),
        Command::Completions(args) => completions::run(args, screen),
    }
}
