//! Rates per second out of counters that only grow. Pure.

export interface Counters {
  pages_read: number;
  pages_written: number;
  uptime_ms: number;
  opened?: string;
}

export interface Sample {
  reads: number;
  writes: number;
}

/** What clocks may differ by, in milliseconds, before an uptime is taken for that of another start. */
const SLACK_MS = 1_000;

export class Rates {
  /** Samples that are kept. */
  static readonly LENGTH = 60;
  private readonly samples: Sample[] = [];
  private before: { counters: Counters; at: number } | null = null;
  /** Whether the counters that were added last were the first of a server that was started anew. */
  restarted = false;

  /** Takes the counters at a time in milliseconds; gives all samples, oldest first. */
  add(counters: Counters, at: number): readonly Sample[] {
    const before = this.before;
    this.before = { counters, at };
    this.restarted = before !== null && isRestart(before.counters, counters, at - before.at);
    if (!before || this.restarted || at <= before.at) return this.samples;
    const seconds = (at - before.at) / 1_000;
    const since = (now: number, then: number): number => Math.max(0, now - then) / seconds;
    this.samples.push({
      reads: since(counters.pages_read, before.counters.pages_read),
      writes: since(counters.pages_written, before.counters.pages_written),
    });
    if (this.samples.length > Rates.LENGTH) this.samples.shift();
    return this.samples;
  }
}

/** Whether a server was started anew between two answers: it says so, or has run for less long than it should. */
function isRestart(before: Counters, now: Counters, elapsed: number): boolean {
  if (before.opened !== now.opened || now.uptime_ms < before.uptime_ms) return true;
  return now.uptime_ms + SLACK_MS < before.uptime_ms + elapsed;
}
