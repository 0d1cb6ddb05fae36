//! Neo4j, where `NEO4J_HOME` names an installation: loads by its own import tool, walks through its shell.
//!
//! The shell reads all queries from its input in one start; a walk's time is the whole divided by their number,
//! so that the median is a mean, and the shell's start is in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::Outcome;
use crate::engine::{Engine, Input, Load, WalkAnswer};

/// A Neo4j installation.
pub(crate) struct Neo4j {
    home: PathBuf,
}

impl Neo4j {
    /// The installation that `NEO4J_HOME` names.
    pub(crate) fn find() -> Option<Self> {
        let home = PathBuf::from(std::env::var_os("NEO4J_HOME")?);
        home.join("bin/neo4j-admin").exists().then_some(Self { home })
    }

    fn run(&self, program: &str, arguments: &[String], input: &str) -> Outcome<String> {
        let text = tempfile::NamedTempFile::new()?;
        fs::write(text.path(), input)?;
        let output = Command::new(self.home.join("bin").join(program))
            .args(arguments)
            .stdin(Stdio::from(text.reopen()?))
            .stderr(Stdio::inherit())
            .output()?;
        if !output.status.success() {
            return Err(format!("{program} {arguments:?} ended with {}", output.status).into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    fn query(&self, text: &str) -> Outcome<String> {
        let format = ["--format", "plain", "--non-interactive"].map(String::from);
        self.run("cypher-shell", &format, text)
    }
}

impl Engine for Neo4j {
    fn name(&self) -> &'static str {
        "neo4j"
    }

    fn version(&self) -> String {
        self.run("neo4j", &["--version".into()], "").unwrap_or_default().trim().into()
    }

    fn settings(&self) -> String {
        "neo4j-admin database import full, then a unique constraint; cypher-shell; authentication off"
            .into()
    }

    fn load(&mut self, input: &Input, _: &Path) -> Outcome<Load> {
        let files = &input.with_headers;
        let began = Instant::now();
        let arguments = [
            "database".into(),
            "import".into(),
            "full".into(),
            "neo4j".into(),
            "--overwrite-destination".into(),
            format!("--nodes=Person={}", files.people.display()),
            format!("--relationships=FRIEND={}", files.friends.display()),
        ];
        self.run("neo4j-admin", &arguments, "")?;
        let seconds = began.elapsed().as_secs_f64();
        self.run("neo4j", &["restart".into()], "")?;
        self.query(
            "CREATE CONSTRAINT FOR (p:Person) REQUIRE p.id IS UNIQUE; CALL db.awaitIndexes();",
        )?;
        // The import runs in a process of Neo4j's own script, and the walks tell whether it is whole.
        Ok(Load { seconds, peak_bytes: None, relationships: None })
    }

    fn walk(&mut self, input: &Input, _: &Path) -> Outcome<WalkAnswer> {
        let query = |start: &u64| {
            format!(
                "MATCH (:Person {{id: '{start}'}})-[:FRIEND]->()-[:FRIEND]->(c) \
                 RETURN count(*) AS ends, sum(toInteger(c.id)) AS total;\n"
            )
        };
        let text: String = input.starts.iter().map(query).collect();
        self.query(&text)?;
        let began = Instant::now();
        let output = self.query(&text)?;
        let each =
            began.elapsed().as_secs_f64() * 1e6 / f64::from(u32::try_from(input.starts.len())?);
        let mut answer =
            WalkAnswer { micros: vec![each; input.starts.len()], ends: 0, sum: 0, empty_us: None };
        for line in output.lines() {
            if let Some((ends, sum)) = line.split_once(", ")
                && let (Ok(ends), Ok(sum)) = (ends.parse::<u64>(), sum.parse::<u64>())
            {
                answer.ends += ends;
                answer.sum += sum;
            }
        }
        Ok(answer)
    }
}
