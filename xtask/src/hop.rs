//! The real `hop`, and a folder in which it is tried: what kill loops and fault injection share.
//!
//! Knows how to build it, how to start it, and the graph that it is tried on; judges nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The release binary, at work in a folder of its own.
pub(crate) struct Hop {
    program: PathBuf,
    pub(crate) folder: PathBuf,
}

impl Hop {
    /// Builds `hop` of the checkout at `root`, and makes an empty folder; `chore` is in its name.
    pub(crate) fn build(root: &Path, chore: &str) -> Result<Self, String> {
        let program = build(root)?;
        let folder = std::env::temp_dir().join(format!("hop-{chore}-{}", std::process::id()));
        fs::create_dir(&folder)
            .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        Ok(Self { program, folder })
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// The same program, at work in another folder.
    pub(crate) fn within(program: PathBuf, folder: PathBuf) -> Self {
        Self { program, folder }
    }

    /// `hop` with these arguments, which hold no blanks.
    pub(crate) fn command(&self, args: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args.split_whitespace()).current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &str) -> Result<Output, String> {
        self.command(args).output().map_err(|error| format!("cannot run hop: {error}"))
    }

    /// Runs it; an error with what it said when it does not end well.
    pub(crate) fn must(&self, args: &str) -> Result<String, String> {
        let output = self.run(args)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(format!("hop {args}: {}: {}", output.status, said(&output)))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), String> {
        fs::write(self.path(name), text).map_err(|error| format!("cannot write {name}: {error}"))
    }

    pub(crate) fn read(&self, name: &str) -> Result<String, String> {
        fs::read_to_string(self.path(name)).map_err(|error| format!("cannot read {name}: {error}"))
    }

    pub(crate) fn copy(&self, from: &str, to: &str) -> Result<(), String> {
        fs::copy(self.path(from), self.path(to))
            .map(drop)
            .map_err(|error| format!("cannot copy {from} to {to}: {error}"))
    }

    /// Removes files, which need not be there.
    pub(crate) fn remove(&self, names: &[&str]) -> Result<(), String> {
        for name in names {
            match fs::remove_file(self.path(name)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(format!("cannot remove {name}: {error}"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Names of the files in a folder within this one, sorted.
    pub(crate) fn names(&self, folder: &str) -> Result<Vec<String>, String> {
        let entries = fs::read_dir(self.path(folder)).map_err(|error| error.to_string())?;
        let mut names: Vec<String> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Ends the work: removes the folder when nothing failed, and says where it is when something did.
    pub(crate) fn end(self, failures: u64) -> Result<bool, String> {
        if failures > 0 {
            println!("files kept in {}", self.folder.display());
            return Ok(false);
        }
        fs::remove_dir_all(&self.folder).map_err(|error| format!("cannot clean up: {error}"))?;
        Ok(true)
    }
}

/// Builds the release binary; its path, which is beside this program's own folder.
fn build(root: &Path) -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| format!("where am I? {error}"))?;
    let target =
        own.parent().and_then(Path::parent).ok_or("this program is in no target folder")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--release", "--quiet", "--package", "hopdb-cli", "--target-dir"])
        .arg(target)
        .current_dir(root)
        .status()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if !status.success() {
        return Err("hop does not build".into());
    }
    Ok(target.join("release").join("hop"))
}

/// What a process said on both channels.
pub(crate) fn said(output: &Output) -> String {
    let both = [&*output.stdout, &*output.stderr].concat();
    String::from_utf8_lossy(&both).trim_end().to_owned()
}

/// A graph of people who each have so many friends: its size.
#[derive(Clone, Copy)]
pub(crate) struct Friends {
    pub(crate) people: u64,
    pub(crate) friends: u64,
}

impl Friends {
    /// Arguments that make the graph's files in the folder `csv`.
    pub(crate) fn generate(self) -> String {
        let Self { people, friends } = self;
        format!("generate friends --people {people} --friends {friends} csv")
    }

    /// Arguments that load them into a new database.
    pub(crate) fn load(database: &str) -> String {
        format!(
            "load {database} --nodes=Person=csv/people.csv --relationships=FRIEND=csv/friends.csv \
             --unique Person.id"
        )
    }

    /// Arguments that add the same graph once more, under a label of its own: its ids are taken otherwise.
    pub(crate) fn addition(database: &str) -> String {
        format!(
            "load {database} --add --nodes=Other=csv/people.csv \
             --relationships=FRIEND=csv/friends.csv"
        )
    }

    /// Whether the report of `hop check --json` is of this graph, so many times.
    pub(crate) fn are_in(self, report: &str, times: u64) -> bool {
        let people = times * self.people;
        let relationships = people * self.friends;
        report.contains(&format!("\"nodes\":{people},\"relationships\":{relationships},"))
    }
}
