//! The examples of the guides, all of them run: files are written, commands run, what they print is compared.
//!
//! A page is read front to back, and runs in one folder:
//! - A fence behind a line that is a name in backticks and a colon is that file.
//! - A fence `console` has commands behind `$ `, run by `sh`, each with what it prints on both outputs. `…` stands
//!   for anything in a line, and for any lines when alone in one. Two spaces stand for more, as columns are as wide
//!   as the times in them. A command under which nothing stands must end well, whatever it prints; one that prints
//!   `error: ` must not end well.
//! - A command `hop serve` goes on behind those that follow, on a port of its own: it is put where they say
//!   `127.0.0.1:7474`.
//! - A fence `cypher` holds statements for other databases, and is not run.
//! - `<!-- needs: X -->` before a fence: it is run only where there is X, one of [`Page::has`].
//!
//! Nothing is passed over: a fence of another kind fails, and the commands run and left out are all there are.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::program::{Folder, ran};
use crate::serve::Served;

/// Where servers of the pages listen, as the pages say.
const ADDRESS: &str = "127.0.0.1:7474";

#[test]
fn every_example_of_the_import_guide_runs() {
    Page::open("docs/import.md").run();
}

#[test]
fn every_example_for_those_who_come_from_elsewhere_runs() {
    Page::open("docs/coming-from.md").run();
}

#[test]
fn every_example_of_the_http_api_runs() {
    Page::open("docs/http.md").run();
}

#[test]
fn dots_stand_for_anything_and_the_rest_for_itself() {
    for (pattern, text, fits) in [
        ("a…c\n", "abbc\n", true),
        ("a…c\n", "ac\n", true),
        ("a…c\n", "ab\nc\n", false),
        ("a\n…\nd\n", "a\nb\nc\nd\n", true),
        ("a\n…\nd\n", "a\nd\n", true),
        ("a\n…\n", "a\n", true),
        ("a\n…\nd\n", "a\nb\n", false),
        ("a\n", "a\nb\n", false),
        ("a\nb\n", "a\n", false),
        ("a…\n", "b\n", false),
        ("…a…b\n", "xaxbxb\n", true),
        ("a    1  …\n", "a  1     2\n", true),
        ("a 1\n", "a  1\n", false),
    ] {
        let lines = |text: &'static str| text.lines().collect::<Vec<_>>();
        assert_eq!(lines_fit(&lines(pattern), &lines(text)), fits, "{pattern:?} {text:?}");
    }
}

struct Page {
    name: &'static str,
    text: String,
    folder: Folder,
}

/// A block of lines between two fences.
struct Block<'t> {
    /// Line of the page with the fence.
    line: usize,
    kind: Kind<'t>,
    needs: Option<&'t str>,
    lines: Vec<&'t str>,
}

enum Kind<'t> {
    File(&'t str),
    Commands,
    OtherDatabases,
}

/// A command and what it prints.
struct Example<'t> {
    line: usize,
    command: String,
    output: Vec<&'t str>,
}

impl Page {
    fn open(name: &'static str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
        let text = std::fs::read_to_string(path).unwrap();
        Self { name, text, folder: Folder::new() }
    }

    fn run(&self) {
        let (mut run, mut left_out) = (0, 0);
        let mut failed = Vec::new();
        let mut served = None;
        for block in self.blocks() {
            let place = format!("{}:{}", self.name, block.line);
            let examples = match block.kind {
                Kind::Commands => examples(&block, &place),
                Kind::File(_) | Kind::OtherDatabases => Vec::new(),
            };
            if block.needs.is_some_and(|what| !self.has(what, &place)) {
                left_out += examples.len();
                tell_left_out(&block, &place);
                continue;
            }
            if let Kind::File(name) = block.kind {
                self.write(name, &block.lines);
            }
            let run_one = |example| self.run_example(example, &mut served).err();
            failed.extend(examples.iter().filter_map(run_one));
            run += examples.len();
        }
        assert!(failed.is_empty(), "{}", failed.join("\n"));
        let all = self.text.lines().filter(|line| line.starts_with("$ ")).count();
        assert_eq!(run + left_out, all, "{}: commands outside of a console fence", self.name);
        assert!(run > 0, "{}: {left_out} commands left out, and none run", self.name);
    }

    fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks = Vec::new();
        let (mut before, mut needs) = ("", None);
        let mut lines = self.text.lines().enumerate();
        while let Some((index, line)) = lines.next() {
            if let Some(what) = line.strip_prefix("<!-- needs: ") {
                needs = Some(what.strip_suffix(" -->").unwrap());
            } else if let Some(info) = line.strip_prefix("```") {
                let kind = self.kind(index + 1, info, before);
                let inside = lines.by_ref().map(|(_, line)| line);
                let lines = inside.take_while(|line| *line != "```").collect();
                blocks.push(Block { line: index + 1, kind, needs: needs.take(), lines });
                before = "";
            } else if !line.trim().is_empty() {
                before = line;
            }
        }
        assert!(needs.is_none(), "{}: what needs {needs:?} is missing", self.name);
        blocks
    }

    fn kind<'t>(&self, line: usize, info: &str, before: &'t str) -> Kind<'t> {
        let name = before.strip_prefix('`').and_then(|rest| rest.strip_suffix("`:"));
        match (info, name) {
            ("console", _) => Kind::Commands,
            ("cypher", _) => Kind::OtherDatabases,
            ("" | "csv" | "json", Some(name)) => Kind::File(name),
            _ => panic!("{}:{line}: what is this block? see docs.rs", self.name),
        }
    }

    /// Whether there is what some examples need.
    fn has(&self, what: &str, place: &str) -> bool {
        match what {
            "columnar" => cfg!(feature = "columnar"),
            "curl" => Command::new("curl").arg("--version").output().is_ok(),
            // Written before the command was.
            "hop export" => self.folder.hop_ok("--help").out.contains("\n  export "),
            _ => panic!("{place}: nobody knows how to tell whether there is {what}"),
        }
    }

    fn write(&self, name: &str, lines: &[&str]) {
        let path = self.folder.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        if name.ends_with(".parquet") {
            return write_parquet(&path, lines);
        }
        let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        self.folder.write(name, text.as_bytes());
    }

    /// Runs an example; the error says what is wrong with it.
    fn run_example(
        &self,
        example: &Example<'_>,
        served: &mut Option<Served>,
    ) -> Result<(), String> {
        let Example { line, command, output } = example;
        if let Some(args) = command.strip_prefix("hop serve ") {
            // One after the other: they have the file alone.
            drop(served.take());
            let started =
                Served::start(&self.folder, &format!("serve {args} --listen 127.0.0.1:0"));
            let printed = started.line.replace(&started.address.to_string(), ADDRESS);
            *served = Some(started);
            return match lines_fit(output, &[printed.trim_end()]) {
                true => Ok(()),
                false => Err(format!("{}:{line}: {command}\nprints:\n{printed}", self.name)),
            };
        }
        let command = match served {
            Some(served) => command.replace(ADDRESS, &served.address.to_string()),
            None => command.clone(),
        };
        let program = Path::new(env!("CARGO_BIN_EXE_hop"));
        let path = std::env::var("PATH").unwrap();
        let mut shell = Command::new("sh");
        shell.current_dir(self.folder.path("")).stdin(Stdio::null());
        shell.env("PATH", format!("{}:{path}", program.parent().unwrap().display()));
        shell.args(["-c", &format!("{{ {command}\n}} 2>&1")]);
        let ran = ran(shell);
        let place = format!("{}:{line}: {command}", self.name);
        let fails = output.iter().any(|line| line.starts_with("error: "));
        if (ran.code != 0) != fails {
            return Err(format!("{place}\nends with exit code {}\n{}", ran.code, ran.out));
        }
        let found: Vec<&str> = ran.out.lines().collect();
        if output.is_empty() || lines_fit(output, &found) {
            return Ok(());
        }
        Err(format!("{place}\nshould print:\n{}\nprints:\n{}", output.join("\n"), ran.out))
    }
}

/// Past the test harness, which keeps what is printed by tests that pass.
fn tell_left_out(block: &Block<'_>, place: &str) {
    let needs = block.needs.unwrap_or_default();
    let line = format!("left out: {place}, which needs {needs}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

fn examples<'t>(block: &Block<'t>, place: &str) -> Vec<Example<'t>> {
    let mut examples: Vec<Example<'t>> = Vec::new();
    let mut goes_on = false;
    for (index, text) in block.lines.iter().enumerate() {
        match (text.strip_prefix("$ "), examples.last_mut()) {
            (Some(command), _) => {
                let line = block.line + 1 + index;
                examples.push(Example { line, command: command.into(), output: Vec::new() });
                goes_on = command.ends_with('\\');
            }
            (None, Some(example)) if goes_on => {
                example.command = format!("{}\n{text}", example.command);
                goes_on = text.ends_with('\\');
            }
            (None, Some(example)) => example.output.push(text),
            (None, None) => panic!("{place}: the block does not begin with a command"),
        }
    }
    assert!(!examples.is_empty(), "{place}: the block has no command");
    examples
}

/// Whether lines are those of a pattern, where a line `…` stands for any lines.
pub(crate) fn lines_fit(pattern: &[&str], lines: &[&str]) -> bool {
    match (pattern, lines) {
        ([], lines) => lines.is_empty(),
        (["…", pattern @ ..], lines) => {
            (0..=lines.len()).any(|skipped| lines_fit(pattern, &lines[skipped..]))
        }
        ([first, pattern @ ..], [line, lines @ ..]) => {
            line_fits(&narrow(first), &narrow(line)) && lines_fit(pattern, lines)
        }
        _ => false,
    }
}

/// The line with gaps of two spaces at most.
fn narrow(line: &str) -> String {
    let mut line = line.to_owned();
    while line.contains("   ") {
        line = line.replace("   ", "  ");
    }
    line
}

/// Whether a line is that of a pattern, where `…` stands for anything.
fn line_fits(pattern: &str, line: &str) -> bool {
    let Some((start, pattern)) = pattern.split_once('…') else { return pattern == line };
    let Some(rest) = line.strip_prefix(start) else { return false };
    let mut ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
    ends.any(|at| line_fits(pattern, &rest[at..]))
}

/// Rows shown as CSV as a Parquet file; a field that is digits is a number.
#[cfg(feature = "columnar")]
fn write_parquet(path: &Path, lines: &[&str]) {
    use hopdb::Value;
    use hopdb::load::TableColumn;

    let rows = || lines.iter().map(|line| line.split(',').collect::<Vec<_>>());
    let (names, first) = (rows().next().unwrap(), rows().nth(1).unwrap());
    let columns = names.iter().zip(first).map(|(name, field)| {
        let is_number = field.parse::<i64>().is_ok();
        let type_text = Some(if is_number { "long" } else { "string" }.to_owned());
        TableColumn { name: (*name).to_owned(), type_text }
    });
    let value = |field: &str| field.parse().map_or(Value::from(field), Value::Integer);
    let values =
        rows().skip(1).map(|row| Ok::<_, std::io::Error>(row.into_iter().map(value).collect()));
    hopdb_columnar::write_parquet(path, &columns.collect::<Vec<_>>(), values).unwrap();
}

#[cfg(not(feature = "columnar"))]
fn write_parquet(path: &Path, _: &[&str]) {
    panic!("{} needs the feature columnar: say so before the block", path.display());
}
