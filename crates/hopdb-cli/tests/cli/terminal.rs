//! Help, versions, completions, and outputs that nobody reads.

use std::fs::File;
use std::io::pipe;
use std::process::Stdio;

use crate::program::{Folder, friends, ran};

#[test]
fn help_teaches_with_examples_and_exit_codes() {
    let folder = Folder::new();
    let help = folder.hop_ok("--help").out;
    for text in ["Exit codes:", "130  interrupted", "load", "walk", "demo"] {
        assert!(help.contains(text), "no {text}: {help}");
    }
    for command in [
        "load",
        "walk",
        "node",
        "page",
        "stat",
        "check",
        "demo",
        "completions",
        "generate friends",
        "bench walk",
        "bench commit",
    ] {
        let help = folder.hop_ok(&format!("{command} --help")).out;
        let examples =
            help.split_once("Examples:\n").unwrap_or_else(|| panic!("{command}: {help}"));
        assert!(examples.1.trim_start().contains("hop "), "{command}");
    }
    let version = folder.hop_ok("--version").out;
    assert_eq!(version, format!("hop {}\n", env!("CARGO_PKG_VERSION")));
    folder.fails("wlk", 2, &["wlk", "walk"]);
}

#[test]
fn shells_are_taught() {
    let folder = Folder::new();
    for (shell, text) in [("bash", "_hop()"), ("zsh", "#compdef hop"), ("fish", "complete -c hop")]
    {
        let script = folder.hop_ok(&format!("completions {shell}")).out;
        assert!(script.contains(text), "{shell}");
        assert!(script.contains("cache-bytes"), "{shell}");
    }
}

#[test]
fn a_closed_pipe_is_quiet() {
    let folder = friends();
    for args in ["completions bash", "stat friends.hop", "bench commit friends.hop --count 3 --ack"]
    {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let mut command = folder.command(args);
        command.stdout(writer).stderr(Stdio::piped());
        let output = command.spawn().unwrap().wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{args}");
    }
}

#[test]
fn a_full_disk_behind_the_output_is_an_error() {
    let Ok(full) = File::options().write(true).open("/dev/full") else { return };
    let folder = Folder::new();
    let mut command = folder.command("completions bash");
    command.stdout(full).stderr(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.starts_with("error: cannot write the output: "), "{error}");
}

#[test]
fn hop_alone_shows_help() {
    let shown = ran(Folder::new().command(""));
    assert_eq!(shown.code, 2);
    assert!(shown.err.contains("Usage: hop <COMMAND>"), "{}", shown.err);
}
