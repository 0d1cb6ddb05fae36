//! `cargo xtask page`: builds the page in `web/` and puts it into the folder `page` of `crates/hopdb-server`, from where
//! a package of that crate has it.
//!
//! Git ignores both the built page and the copy. In a checkout the crate takes `web/dist` itself.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

/// Builds and copies; always true, or an error.
pub(crate) fn run(root: &Path) -> Result<bool, String> {
    let web = root.join("web");
    npm(&web, &["ci", "--no-audit", "--no-fund"])?;
    npm(&web, &["run", "build"])?;
    let (from, to) = (web.join("dist"), root.join("crates/hopdb-server/page"));
    let copied = || -> io::Result<usize> {
        if to.exists() {
            fs::remove_dir_all(&to)?;
        }
        copy(&from, &to)
    };
    let files = copied().map_err(|error| format!("cannot copy {}: {error}", from.display()))?;
    println!("{files} files in {}", to.display());
    Ok(true)
}

fn npm(web: &Path, args: &[&str]) -> Result<(), String> {
    let status = Command::new("npm").args(args).current_dir(web).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("npm {}: {status}", args.join(" "))),
        Err(error) => Err(format!("cannot start npm, which comes with Node.js: {error}")),
    }
}

/// Copies the files of a folder; how many.
fn copy(from: &Path, to: &Path) -> io::Result<usize> {
    fs::create_dir_all(to)?;
    let mut files = 0;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            files += copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
            files += 1;
        }
    }
    Ok(files)
}
