//! Arguments from files: `@FILE` on the command line stands for the lines of FILE, one argument on each.
//!
//! Lines are taken to the letter, without quotes to be read, so that any name can stand there; blank lines and those
//! that begin with `#` are left out. In a file, a line that begins with `@` is an argument like any other.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::failure::Failure;

/// The arguments, with those of files in their places.
pub(crate) fn expand(args: impl Iterator<Item = OsString>) -> Result<Vec<OsString>, Failure> {
    let mut all = Vec::new();
    for arg in args {
        match arg.as_bytes() {
            [b'@', file @ ..] if !file.is_empty() => {
                read(Path::new(OsStr::from_bytes(file)), &mut all)?
            }
            _ => all.push(arg),
        }
    }
    Ok(all)
}

fn read(file: &Path, all: &mut Vec<OsString>) -> Result<(), Failure> {
    let text = std::fs::read(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::input(
            format!("@{}: there is no such file", file.display()),
            "@FILE stands for arguments, one on each line of FILE; an argument that begins with @ can stand in one",
        ),
        _ => Failure::io(format!("read the arguments in {}", file.display()), error),
    })?;
    let lines =
        text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let is_argument = |line: &&[u8]| !line.trim_ascii().is_empty() && !line.starts_with(b"#");
    all.extend(lines.filter(is_argument).map(|line| OsString::from_vec(line.to_vec())));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(args: &[&str]) -> Result<Vec<String>, String> {
        let args = args.iter().map(OsString::from);
        let text = |arg: OsString| arg.into_string().unwrap();
        let all = expand(args).map_err(|failure| failure.to_string())?;
        Ok(all.into_iter().map(text).collect())
    }

    #[test]
    fn lines_stand_where_their_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.args");
        std::fs::write(&file, "# all\n--nodes=A b='c'\r\n\n   \n @x\n@y\n--last").unwrap();
        let named = format!("@{}", file.display());
        let found = expanded(&["hop", &named, "@", "a@b"]).unwrap();
        assert_eq!(found, ["hop", "--nodes=A b='c'", " @x", "@y", "--last", "@", "a@b"]);
        let missing = expanded(&["hop", "@nothing.args"]).unwrap_err();
        assert_eq!(missing, "@nothing.args: there is no such file");
        let folder = format!("@{}", folder.path().display());
        assert!(expanded(&[&folder]).unwrap_err().starts_with("cannot read the arguments in"));
    }
}
