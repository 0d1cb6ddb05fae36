//! `cargo xtask mutants`: defects of the storage engine, switched on one at a time in one build; each must be found.
//!
//! A mutant counts as found when a simulation with it fails, panics or does not end, while the same seeds pass with none.
//! First the simulations of one thread are asked, then those with several.

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use clap::Args;

/// Seconds after which a run counts as one without end.
const PATIENCE_S: u64 = 600;

/// Which mutants, and how much is tried.
#[derive(Args)]
pub(crate) struct MutantsArgs {
    /// Only these.
    names: Vec<String>,
    /// Seeds of one thread for each; of those with several, as many.
    #[arg(long, default_value_t = 12)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// The two kinds of simulations, by the features of the engine.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    features: &'static str,
}

const KINDS: [Kind; 2] = [
    Kind { name: "one thread", features: "mutants" },
    Kind { name: "threads", features: "mutants,shuttle" },
];

/// What a run said.
enum Verdict {
    Passed,
    /// With the failure.
    Found(String),
}

/// Tries the mutants; `false` when one is not found.
pub(crate) fn run(root: &Path, args: &MutantsArgs) -> Result<bool, String> {
    let listed = program(root, KINDS[0], &["--list", "0", "0"]).output();
    let listed = listed.map_err(|error| format!("cannot run cargo: {error}"))?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let all: Vec<&str> = listed.lines().collect();
    if all.is_empty() {
        return Err("the program for mutants does not build".into());
    }
    if let Some(name) = args.names.iter().find(|name| !all.contains(&name.as_str())) {
        return Err(format!("there is no mutant {name}; there are {}", all.join(", ")));
    }
    for kind in KINDS {
        if let Verdict::Found(what) = try_one(root, kind, "None", args)? {
            return Err(format!("{}: fails without a mutant: {what}", kind.name));
        }
    }
    let chosen = |name: &&&str| args.names.is_empty() || args.names.iter().any(|n| n == **name);
    let (mut tried, mut found) = (0, 0);
    for name in all.iter().filter(chosen) {
        tried += 1;
        let line = find(root, name, args)?;
        found += u32::from(line.is_some());
        println!("{name}: {}", line.unwrap_or_else(|| "NOT FOUND".into()));
    }
    println!("{tried} mutants, {found} found, {} not", tried - found);
    Ok(found == tried)
}

/// By what a mutant is found.
fn find(root: &Path, name: &str, args: &MutantsArgs) -> Result<Option<String>, String> {
    for kind in KINDS {
        let start = Instant::now();
        if let Verdict::Found(what) = try_one(root, kind, name, args)? {
            let seconds = start.elapsed().as_secs_f64();
            return Ok(Some(format!("found by {} in {seconds:.1} s: {what}", kind.name)));
        }
    }
    Ok(None)
}

fn program(root: &Path, kind: Kind, arguments: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["run", "--quiet", "--package", "hopdb-testkit", "--bin", "hopdb-mutant"])
        .args(["--no-default-features", "--features", kind.features])
        .args(if cfg!(debug_assertions) { &[][..] } else { &["--release"] })
        .arg("--")
        .args(arguments)
        .current_dir(root);
    command
}

fn try_one(root: &Path, kind: Kind, name: &str, args: &MutantsArgs) -> Result<Verdict, String> {
    let (first, seeds) = (args.seed.to_string(), args.seeds.to_string());
    let mut child = program(root, kind, &[name, &first, &seeds])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    // Both pipes are read, so that the program never waits for this one.
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let reader = |pipe| std::thread::spawn(move || text_of(pipe));
    let error_reader = std::thread::spawn(move || text_of(stderr));
    let output_reader = reader(stdout);
    let end = Instant::now() + Duration::from_secs(PATIENCE_S);
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            break Some(status);
        }
        if Instant::now() > end {
            child.kill().map_err(|error| error.to_string())?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let output = output_reader.join().unwrap_or_default();
    let errors = error_reader.join().unwrap_or_default();
    verdict(status, &output, &errors)
}

fn text_of(pipe: Option<impl std::io::Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        // What was read before an error is what there is.
        drop(pipe.read_to_end(&mut bytes));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn verdict(status: Option<ExitStatus>, output: &str, errors: &str) -> Result<Verdict, String> {
    let panicked = errors.lines().find(|line| line.contains("panicked at"));
    match (status.map(|status| status.code()), panicked) {
        (None, _) => Ok(Verdict::Found("it does not end".into())),
        (Some(Some(0)), _) => Ok(Verdict::Passed),
        (_, Some(line)) => {
            let message = errors.lines().skip_while(|other| *other != line).nth(1).unwrap_or("");
            Ok(Verdict::Found(format!("a panic: {message}")))
        }
        (Some(Some(1)), _) if !output.is_empty() => {
            Ok(Verdict::Found(output.lines().next().unwrap_or_default().to_string()))
        }
        _ => Err(format!("the program for mutants ended oddly: {output}{errors}")),
    }
}
