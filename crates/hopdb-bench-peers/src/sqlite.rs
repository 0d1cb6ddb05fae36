//! SQLite by `rusqlite`: pairs in a table keyed by (src, dst), and an index over (dst, src).

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Instant;

use hopdb_bench::friends::Files;
use rusqlite::Connection;

use crate::Outcome;
use crate::child::{self, Held};
use crate::engine::{Engine, Input, Load, WalkAnswer};

/// SQLite as the distribution has it: loads in a process of its own, walks in this one.
pub(crate) struct Sqlite;

const WALK: &str =
    "SELECT f2.dst FROM friend f1 JOIN friend f2 ON f2.src = f1.dst WHERE f1.src = ?1";

fn open(path: &Path) -> Outcome<Connection> {
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -262144;",
    )?;
    Ok(connection)
}

/// The two fields of each row behind the header.
fn rows(path: &Path, mut each: impl FnMut(&str, &str) -> Outcome<()>) -> Outcome<()> {
    let mut lines = BufReader::new(File::open(path)?).lines();
    lines.next().transpose()?;
    for line in lines {
        let line = line?;
        let (first, second) = line.split_once(',').ok_or("a row without a comma")?;
        each(first, second)?;
    }
    Ok(())
}

/// Loads in this process; seconds and relationships.
pub(crate) fn load_here(files: &Files, path: &Path) -> Outcome<(f64, u64)> {
    let began = Instant::now();
    let connection = open(path)?;
    connection.execute_batch(
        "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT);
         CREATE TABLE friend(src INT, dst INT, PRIMARY KEY(src, dst)) WITHOUT ROWID;
         BEGIN;",
    )?;
    let mut relationships = 0;
    {
        let mut person = connection.prepare("INSERT INTO person VALUES (?1, ?2)")?;
        rows(&files.people, |id, name| {
            person.execute((id.parse::<i64>()?, name))?;
            Ok(())
        })?;
        let mut friend = connection.prepare("INSERT INTO friend VALUES (?1, ?2)")?;
        rows(&files.friends, |from, to| {
            relationships += friend.execute((from.parse::<i64>()?, to.parse::<i64>()?))? as u64;
            Ok(())
        })?;
    }
    connection.execute_batch(
        "CREATE INDEX friend_dst ON friend(dst, src); COMMIT; PRAGMA wal_checkpoint(TRUNCATE);",
    )?;
    connection.close().map_err(|(_, error)| error)?;
    Ok((began.elapsed().as_secs_f64(), relationships))
}

impl Engine for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn version(&self) -> String {
        rusqlite::version().into()
    }

    fn settings(&self) -> String {
        "WAL, synchronous FULL, 256 MiB cache; one transaction, index at the end; ids of the ends"
            .into()
    }

    fn load(&mut self, input: &Input, path: &Path) -> Outcome<Load> {
        child::load(Held::Sqlite, &input.plain, path, None)
    }

    fn walk(&mut self, input: &Input, path: &Path) -> Outcome<WalkAnswer> {
        let connection = open(path)?;
        let mut statement = connection.prepare(WALK)?;
        let mut answer = WalkAnswer { micros: Vec::new(), ends: 0, sum: 0, empty_us: None };
        let mut ends: Vec<i64> = Vec::new();
        for round in 0..2 {
            (answer.ends, answer.sum) = (0, 0);
            for start in &input.starts {
                let start = i64::try_from(*start)?;
                let began = Instant::now();
                ends.clear();
                let mut rows = statement.query([start])?;
                while let Some(row) = rows.next()? {
                    ends.push(row.get(0)?);
                }
                let micros = began.elapsed().as_secs_f64() * 1e6;
                // The first round warms the cache.
                if round == 1 {
                    answer.micros.push(micros);
                }
                answer.ends += ends.len() as u64;
                answer.sum += ends.iter().map(|end| end.unsigned_abs()).sum::<u64>();
            }
        }
        Ok(answer)
    }
}
