//! The package lists of this machine, as `apt-cache dumpavail` prints them.
//!
//! The text is read while it is printed; nothing is kept of it. The program ends with this, read to the end or not.

use std::io::{self, BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::failure::Failure;

/// A running `apt-cache dumpavail`.
pub(crate) struct Lists {
    child: Child,
    text: BufReader<ChildStdout>,
}

impl Lists {
    /// Starts it, and sees that there is something to read.
    pub(crate) fn open() -> Result<Self, Failure> {
        let mut command = Command::new("apt-cache");
        command.arg("dumpavail").stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Failure::input(
                "there is no `apt-cache` on this machine",
                "--debian needs Debian, Ubuntu or one of their kin; `hop demo` without it works \
                 everywhere",
            ),
            _ => Failure::io("start `apt-cache`", error),
        })?;
        let Some(out) = child.stdout.take() else {
            return Err(unreadable(io::Error::other("it has no output")));
        };
        let mut lists = Self { child, text: BufReader::with_capacity(1 << 18, out) };
        if lists.text.fill_buf().map_err(unreadable)?.is_empty() {
            lists.finish()?;
            return Err(empty());
        }
        Ok(lists)
    }

    /// The text.
    pub(super) fn text(&mut self) -> &mut impl BufRead {
        &mut self.text
    }

    /// To be called at the end of the text: whether all of it was printed.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        let status = self.child.wait().map_err(unreadable)?;
        if status.success() {
            return Ok(());
        }
        Err(unreadable(io::Error::other(format!("it ended with {status}"))))
    }
}

impl Drop for Lists {
    fn drop(&mut self) {
        // Both do nothing for a program that has ended.
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// No package in all of the text.
pub(super) fn empty() -> Failure {
    Failure::input(
        "apt has no package lists on this machine",
        "`apt-get update`, as root, fetches them; `hop demo` without --debian needs none",
    )
}

pub(super) fn unreadable(error: io::Error) -> Failure {
    Failure::io("read what `apt-cache dumpavail` prints", error)
}
