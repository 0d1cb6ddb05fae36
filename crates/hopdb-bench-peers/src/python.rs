//! Peers that come as Python packages, each in an environment of its own that the suite makes.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::Outcome;
use crate::engine::{Engine, Input, Load, WalkAnswer};

/// A package, and how it is measured.
pub(crate) struct Package {
    /// Its module, which is the engine's name.
    pub(crate) module: &'static str,
    /// What is installed.
    requirement: &'static str,
    settings: &'static str,
    holds_graph: bool,
}

const GRAPH: &str = "defaults; COPY FROM, CHECKPOINT, close; Cypher from Python, ids of the ends";

/// All packages.
pub(crate) const PACKAGES: [Package; 3] = [
    Package { module: "kuzu", requirement: "kuzu==0.11.3", settings: GRAPH, holds_graph: true },
    Package {
        module: "ladybug",
        requirement: "ladybug==0.22.*",
        settings: GRAPH,
        holds_graph: true,
    },
    Package {
        module: "duckdb",
        requirement: "duckdb==2.0.1",
        settings: "bare tables, no index, no adjacency",
        holds_graph: false,
    },
];

/// A package that is installed.
pub(crate) struct Python {
    package: &'static Package,
    python: PathBuf,
    version: String,
}

#[derive(Deserialize)]
struct Walked {
    micros: Vec<f64>,
    ends: u64,
    sum: u64,
    empty_us: f64,
}

impl Python {
    /// Makes the environment and installs the package, unless that was done before.
    pub(crate) fn install(package: &'static Package) -> Outcome<Self> {
        let Package { module, requirement, .. } = package;
        let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers");
        let environment = target.join(format!("python-{module}"));
        let python = environment.join("bin/python");
        if !python.exists() {
            std::fs::create_dir_all(&target)?;
            run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
        }
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet", requirement]))?;
        let show = format!("import {module}; print({module}.__version__)");
        let version = run(Command::new(&python).args(["-c", &show]))?.trim().to_string();
        Ok(Self { package, python, version })
    }

    fn work<T: for<'de> Deserialize<'de>>(&self, arguments: &[&OsStr]) -> Outcome<T> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/worker.py");
        let module = self.package.module;
        let output = run(Command::new(&self.python).arg(script).arg(module).args(arguments))?;
        Ok(serde_json::from_str(&output)?)
    }
}

fn run(command: &mut Command) -> Outcome<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{command:?} ended with {}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

impl Engine for Python {
    fn name(&self) -> &'static str {
        self.package.module
    }

    fn version(&self) -> String {
        self.version.clone()
    }

    fn settings(&self) -> String {
        self.package.settings.into()
    }

    fn holds_graph(&self) -> bool {
        self.package.holds_graph
    }

    fn load(&mut self, input: &Input, path: &Path) -> Outcome<Load> {
        let files = &input.plain;
        self.work(&[
            OsStr::new("load"),
            path.as_os_str(),
            files.people.as_os_str(),
            files.friends.as_os_str(),
        ])
    }

    fn walk(&mut self, input: &Input, path: &Path) -> Outcome<WalkAnswer> {
        let starts = input.folder.join("starts.json");
        let walked: Walked =
            self.work(&[OsStr::new("walk"), path.as_os_str(), starts.as_os_str()])?;
        let Walked { micros, ends, sum, empty_us } = walked;
        Ok(WalkAnswer { micros, ends, sum, empty_us: Some(empty_us) })
    }
}
