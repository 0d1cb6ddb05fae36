//! Runs `hop` in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// A folder that goes with the test.
pub(crate) struct Folder(TempDir);

/// What a run of `hop` gave.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self::new();
        files.iter().for_each(|(name, text)| folder.write(name, text.as_bytes()));
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    /// The names in the folder, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into()).collect();
        names.sort_unstable();
        names
    }

    /// `hop` with arguments that spaces separate, not started yet.
    pub(crate) fn command(&self, args: &str) -> Command {
        command(self.0.path(), args)
    }

    /// Runs `hop` to its end.
    pub(crate) fn hop(&self, args: &str) -> Ran {
        ran(self.command(args))
    }

    /// Runs `hop`, which must end well.
    pub(crate) fn hop_ok(&self, args: &str) -> Ran {
        let ran = self.hop(args);
        assert_eq!(ran.code, 0, "hop {args}: {}{}", ran.out, ran.err);
        ran
    }

    /// Runs `hop`, which must end well with one JSON object.
    pub(crate) fn json(&self, args: &str) -> serde_json::Value {
        let ran = self.hop_ok(args);
        serde_json::from_str(&ran.out)
            .unwrap_or_else(|why| panic!("hop {args}: {why}: {}", ran.out))
    }

    /// Runs `hop`, which must fail with a code and say each of the texts.
    pub(crate) fn fails(&self, args: &str, code: i32, texts: &[&str]) {
        let Ran { code: found, out, err } = self.hop(args);
        assert_eq!(found, code, "hop {args}: {out}{err}");
        for text in texts {
            assert!(err.contains(text), "hop {args} does not say {text:?}: {err}");
        }
        assert!(err.starts_with("error: "), "hop {args}: {err}");
    }

    /// Starts `hop` with its outputs in pipes.
    pub(crate) fn start(&self, args: &str) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

fn command(folder: &Path, args: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hop"));
    command.current_dir(folder).args(args.split_whitespace()).stdin(Stdio::null());
    command
}

pub(crate) fn ran(mut command: Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The keys of a JSON object, sorted.
pub(crate) fn keys(value: &serde_json::Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// A folder with `friends.hop`: 200 people with 5 friends each, indexed by id.
pub(crate) fn friends() -> Folder {
    let folder = Folder::new();
    folder.hop_ok("generate friends --people 200 --friends 5 --seed 3 .");
    folder.hop_ok(
        "load friends.hop --nodes=Person=people.csv --relationships=FRIEND=friends.csv \
         --unique Person.id",
    );
    folder
}
