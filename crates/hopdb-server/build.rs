//! Takes the files of the page into the crate: writes `page.rs`, which includes their bytes.
//!
//! In a checkout they are those of `web/dist`, as `npm run build` left them there; where there is none, the page is
//! built from a copy of `web/` in the output folder: nothing is written among the sources. In a packaged crate they
//! are in `page/`. Without any the build goes on, says how to get them, and the server says the same.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script: it copies files, reads cargo's variables and starts npm"
)]

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

/// What is no source of the page.
const NO_SOURCES: [&str; 3] = ["dist", "node_modules", "tests"];

const INDEX: &str = "index.html";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let folder = |name: &str| PathBuf::from(std::env::var_os(name).expect("cargo sets it"));
    let (here, out) = (folder("CARGO_MANIFEST_DIR"), folder("OUT_DIR"));
    let web = here.join("../../web");
    let found = match web.join("package.json").is_file() {
        true => from_checkout(&web, &out),
        false => from_package(&here.join("page")),
    };
    let (files, why_none) = match found.and_then(|page| files(&page)) {
        Ok(files) => (files, String::new()),
        Err(why) => {
            println!("cargo:warning=the page is left out of hopdb-server: {why}");
            (Vec::new(), why)
        }
    };
    let mut text = String::from("const FILES: &[(&str, &[u8])] = &[\n");
    for (name, path) in files {
        writeln!(text, "    ({name:?}, include_bytes!({path:?})),").expect("strings take all");
    }
    writeln!(text, "];\nconst WHY_NONE: &str = {why_none:?};").expect("strings take all");
    std::fs::write(out.join("page.rs"), text).expect("the output folder can be written");
}

fn from_package(page: &Path) -> Result<PathBuf, String> {
    match page.join(INDEX).is_file() {
        true => Ok(page.to_path_buf()),
        false => Err("there are no files of it, and no sources to build it from".into()),
    }
}

fn from_checkout(web: &Path, out: &Path) -> Result<PathBuf, String> {
    let sources = sources(web).map_err(|error| format!("cannot read web/: {error}"))?;
    sources.iter().for_each(|path| println!("cargo:rerun-if-changed={}", path.display()));
    let dist = web.join("dist");
    if dist.join(INDEX).is_file() {
        println!("cargo:rerun-if-changed={}", dist.display());
        let changed = |path: &Path| path.metadata().and_then(|about| about.modified()).ok();
        let built = changed(&dist.join(INDEX));
        if sources.iter().any(|path| is_newer(path, built)) {
            println!("cargo:warning=web/dist is older than its sources: `npm run build` in web/");
        }
        return Ok(dist);
    }
    let copy = out.join("web");
    build(&sources, &copy).map_err(|error| format!("{error}; `cargo xtask page` shows more"))?;
    Ok(copy.join("dist"))
}

fn sources(web: &Path) -> io::Result<Vec<PathBuf>> {
    let mut sources = Vec::new();
    for entry in web.read_dir()? {
        let entry = entry?;
        if !NO_SOURCES.iter().any(|name| entry.file_name() == *name) {
            sources.push(entry.path());
        }
    }
    sources.sort();
    Ok(sources)
}

/// Whether a file, or one in a folder, was changed after `time`.
fn is_newer(path: &Path, time: Option<SystemTime>) -> bool {
    match path.read_dir() {
        Ok(entries) => entries.flatten().any(|entry| is_newer(&entry.path(), time)),
        Err(_) => path.metadata().and_then(|about| about.modified()).ok() > time,
    }
}

/// Builds the page in a copy of its sources.
fn build(sources: &[PathBuf], copy: &Path) -> Result<(), String> {
    npm(&["--version"], Path::new("."))?;
    let copied = || -> io::Result<()> {
        if copy.is_dir() {
            std::fs::remove_dir_all(copy)?;
        }
        std::fs::create_dir_all(copy)?;
        sources.iter().try_for_each(|path| copy_into(path, copy))
    };
    copied().map_err(|error| format!("cannot copy web/: {error}"))?;
    npm(&["ci", "--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-timeout=30000"], copy)?;
    npm(&["run", "build"], copy)
}

fn copy_into(path: &Path, folder: &Path) -> io::Result<()> {
    let Some(name) = path.file_name() else { return Ok(()) };
    let to = folder.join(name);
    if path.is_dir() {
        std::fs::create_dir_all(&to)?;
        for entry in path.read_dir()? {
            copy_into(&entry?.path(), &to)?;
        }
        return Ok(());
    }
    std::fs::copy(path, to).map(|_| ())
}

fn npm(args: &[&str], folder: &Path) -> Result<(), String> {
    // What cargo has in the environment of a build script is not for npm to read.
    let mut command = Command::new("npm");
    command.args(args).current_dir(folder).stdin(Stdio::null());
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(_) => Err(format!("`npm {}` fails", args[0])),
        Err(_) => Err("npm, which builds it, cannot be started".into()),
    }
}

/// The files below a folder: names from it on, and paths.
fn files(page: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    fn collect(folder: &Path, before: &str, into: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
        for entry in folder.read_dir()? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let name = format!("{before}{name}");
            match path.is_dir() {
                true => collect(&path, &format!("{name}/"), into)?,
                false => into.push((name, path.canonicalize()?)),
            }
        }
        Ok(())
    }
    let mut files = Vec::new();
    collect(page, "", &mut files).map_err(|error| format!("cannot read its files: {error}"))?;
    files.sort();
    Ok(files)
}
