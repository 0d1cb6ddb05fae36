//! Rates per second out of counters that only grow. Pure.

export interface Counters {
  pages_read: number;
  pages_written: number;
  uptime_ms: number;
}

export interface Sample {
  reads: number;
  writes: number;
}

export class Rates {
  /** Samples that are kept. */
  static readonly LENGTH = 60;
  private readonly samples: Sample[] = [];
  private before: { counters: Counters; at: number } | null = null;

  /** Takes the counters at a time in milliseconds; gives all samples, oldest first. */
  add(counters: Counters, at: number): readonly Sample[] {
    const before = this.before;
    this.before = { counters, at };
    // Counters that went back are those of a server that was started anew.
    const anew = !before || counters.uptime_ms < before.counters.uptime_ms;
    if (anew || at <= before.at) return this.samples;
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
