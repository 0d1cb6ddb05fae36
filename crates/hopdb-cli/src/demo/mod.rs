//! `hop demo`: graphs, loaded and walked before the user's eyes.
//!
//! Everything goes the ways that users go: CSV files, the ordinary load, the public API; and what was written
//! stays, to be tried further.

mod debian;
mod friends;
mod packages;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::failure::Failure;
use crate::screen::{Screen, duration};
use crate::serve;

const EXAMPLES: &str = "\
Examples:
  hop demo
  hop demo --quick --dir demo
  hop demo --serve
  hop demo --debian";

/// Load two graphs, walk them, and show what was measured
///
/// First HopDB's own crate dependency graph, then a generated graph of 100,000 people and 1,000,000
/// friendships. Takes a few seconds; the files stay where it says, to go on with. With --debian a real and
/// larger one instead: the packages of Debian or Ubuntu, as apt knows them on this machine.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A new or empty folder for the files; a new one for temporary files when not given
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Take 10,000 people and 100,000 friendships instead
    #[arg(long)]
    quick: bool,
    /// Load the packages that apt knows on this machine instead, and ask about their dependencies
    #[arg(long, conflicts_with = "quick")]
    debian: bool,
    /// At the end serve the graph, as `hop serve` does, on port 7474 or the next one that is free
    #[arg(long)]
    serve: bool,
}

pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<(), Failure> {
    let started = Instant::now();
    // Before the folder is made: nothing stays where there are no lists.
    let lists = if args.debian { Some(debian::Lists::open()?) } else { None };
    let folder = folder(args.dir.as_deref())?;
    writeln!(screen, "The files of this demo are in {}\n", folder.display())?;
    let (database, commands) = match lists {
        Some(lists) => {
            let shown = debian::show(lists, &folder, screen)?;
            let commands = debian_commands(&shown);
            (shown.database, commands)
        }
        None => {
            let packages = packages::show(&folder, screen)?;
            let people = if args.quick { 10_000 } else { 100_000 };
            let friends = friends::show(&folder, people, screen)?;
            let commands = commands(&packages, &friends);
            (friends, commands)
        }
    };
    next(&commands, screen)?;
    let time = duration(started.elapsed());
    writeln!(screen, "{}", screen.dim(&format!("All of this took {time}.")))?;
    if args.serve { serve::serve_somewhere(&database, screen) } else { Ok(()) }
}

fn folder(wanted: Option<&Path>) -> Result<PathBuf, Failure> {
    let Some(folder) = wanted else {
        let made = tempfile::Builder::new().prefix("hop-demo-").tempdir();
        let made = made.map_err(|error| Failure::io("make a folder for temporary files", error))?;
        return Ok(made.keep());
    };
    let failed = |error| Failure::io(format!("use the folder {}", folder.display()), error);
    if folder.exists() && fs::read_dir(folder).map_err(failed)?.next().is_some() {
        let message = format!("the folder {} is not empty", folder.display());
        return Err(Failure::input(message, "name a new folder with --dir, or leave --dir out"));
    }
    fs::create_dir_all(folder).map_err(failed)?;
    Ok(folder.to_path_buf())
}

fn commands(packages: &Path, friends: &Path) -> Vec<String> {
    let (packages, friends) = (shell_word(packages), shell_word(friends));
    vec![
        format!("walk {packages} --from Package.name=clap --hops 4"),
        format!("walk {friends} --from Person.id=42 --hops 4"),
        format!("bench walk {friends} --cache-bytes 256KiB"),
        format!("serve {friends}"),
        format!("stat {friends}"),
        format!("check {friends}"),
        "load --help".to_owned(),
    ]
}

fn debian_commands(shown: &debian::Shown) -> Vec<String> {
    let debian::Shown { database, subject, most_wanted } = shown;
    let database = shell_word(database);
    vec![
        format!("walk {database} --from Package.name={subject} --type DEPENDS --hops 4"),
        format!(
            "walk {database} --from Package.name={most_wanted} --type DEPENDS --direction in --hops 4"
        ),
        format!("bench walk {database} --type DEPENDS --hops 3"),
        format!("serve {database}"),
        format!("stat {database}"),
        format!("check {database}"),
        "load --help".to_owned(),
    ]
}

fn next(commands: &[String], screen: &mut Screen) -> Result<(), Failure> {
    screen.headline("Try next")?;
    let hop = program();
    for command in commands {
        writeln!(screen, "  {hop} {command}")?;
    }
    Ok(writeln!(screen)?)
}

/// How to call this program again: as the user called it, unless by a path that leads elsewhere from here.
fn program() -> String {
    let called = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    if called.components().count() < 2 {
        return "hop".into();
    }
    let here = std::env::current_dir().unwrap_or_default();
    shell_word(called.strip_prefix(here).unwrap_or(&called))
}

fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Names with commas between, in lines that begin below one another.
fn wrapped(names: &[String], indent: usize) -> String {
    const WIDTH: usize = 88;
    let mut text = String::new();
    let mut column = indent;
    for (index, name) in names.iter().enumerate() {
        let word = if index + 1 < names.len() { format!("{name},") } else { name.clone() };
        let length = word.chars().count();
        if index > 0 && column + 1 + length > WIDTH {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            column = indent;
        } else if index > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(&word);
        column += length;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_wrap_below_one_another() {
        let names: Vec<String> = (0..30).map(|n| format!("crate-{n}")).collect();
        let text = wrapped(&names, 5);
        assert!(text.lines().count() > 2);
        assert!(text.lines().all(|line| line.chars().count() <= 88));
        assert!(text.lines().skip(1).all(|line| line.starts_with("     crate")));
    }

    #[test]
    fn paths_can_be_pasted_into_a_shell() {
        assert_eq!(shell_word(Path::new("/tmp/a-b.hop")), "/tmp/a-b.hop");
        assert_eq!(shell_word(Path::new("a b's")), r"'a b'\''s'");
    }
}
