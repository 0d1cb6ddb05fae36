//! The program `wrk`, told by a script what to ask, and what to print in the end.

use std::io::Write;
use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;

use super::Outcome;

/// Random nodes of those there are; in the end, one line for [`Measured`].
const SCRIPT: &str = r#"
local before, behind, people
function init(args)
  before, behind, people = args[1], args[2] or "", tonumber(args[3])
  math.randomseed(people)
end
function request()
  return wrk.format("GET", before .. math.random(0, people - 1) .. behind)
end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    '\nmeasured {"requests":%d,"us":%d,"errors":%d,"p50_us":%f,"p99_us":%f}\n',
    summary.requests, summary.duration, e.connect + e.read + e.write + e.status + e.timeout,
    latency:percentile(50), latency:percentile(99)))
end
"#;

/// A kind of request: a path with a number in it.
pub(super) struct Requests {
    pub(super) name: &'static str,
    pub(super) before: &'static str,
    pub(super) behind: &'static str,
}

impl Requests {
    pub(super) fn path(&self, node: u64) -> String {
        format!("{}{node}{}", self.before, self.behind)
    }
}

/// One run.
pub(super) struct Wrk {
    pub(super) address: SocketAddr,
    pub(super) connections: u32,
    pub(super) people: u64,
    pub(super) time: Duration,
}

/// What a run gave. Without errors: one that has any fails.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) per_second: f64,
    pub(super) p50_us: f64,
    pub(super) p99_us: f64,
}

#[derive(Debug, Deserialize)]
struct Line {
    requests: u32,
    us: f64,
    errors: u64,
    p50_us: f64,
    p99_us: f64,
}

impl Wrk {
    pub(super) fn run(&self, requests: &Requests) -> Outcome<Measured> {
        let mut script = tempfile::NamedTempFile::with_suffix(".lua")?;
        script.write_all(SCRIPT.as_bytes())?;
        let seconds = self.time.as_secs().max(1);
        let output = Command::new("wrk")
            .args(["--threads", "1", "--connections", &self.connections.to_string()])
            .args(["--duration", &format!("{seconds}s"), "--script"])
            .arg(script.path())
            .arg(format!("http://{}/", self.address))
            .args(["--", requests.before, requests.behind, &self.people.to_string()])
            .output()
            .map_err(|error| {
                format!("cannot run wrk, which a package of that name has: {error}")
            })?;
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().find_map(|line| line.strip_prefix("measured "));
        let line = line.ok_or_else(|| format!("wrk printed {text:?}"))?;
        measured(requests, line)
    }
}

fn measured(requests: &Requests, line: &str) -> Outcome<Measured> {
    let Line { requests: made, us, errors, p50_us, p99_us } = serde_json::from_str(line)?;
    if errors > 0 || made == 0 {
        return Err(format!("{}: {errors} of {made} requests failed", requests.name).into());
    }
    Ok(Measured { per_second: f64::from(made) / us * 1e6, p50_us, p99_us })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_with_errors_is_none() {
        let requests = Requests { name: "node", before: "/a/", behind: "/b" };
        assert_eq!(requests.path(7), "/a/7/b");
        let line = |errors| {
            format!(r#"{{"requests":10,"us":2000000,"errors":{errors},"p50_us":1.0,"p99_us":2.5}}"#)
        };
        let good = measured(&requests, &line(0)).unwrap();
        assert!((good.per_second - 5.0).abs() < 1e-9);
        assert!((good.p99_us - 2.5).abs() < 1e-9);
        assert!(measured(&requests, &line(1)).is_err());
    }
}
