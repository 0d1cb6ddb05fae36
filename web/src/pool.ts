//! The pool's strip: frames in memory against the most there may be, hits, pages read and written.
//!
//! Asks twice a second, faster just after a walk, never while the page is hidden.

import { ConnectionLost, type Api } from "./api";
import { byId, el, svg } from "./dom";
import { age, bytes, count, percent, rate } from "./format";
import { Rates, type Sample } from "./rates";
import type { Pool } from "./types";

const PAUSE_MS = 500;
const FAST_PAUSE_MS = 120;
const FAST_FOR_MS = 2_500;
const SPARK_WIDTH = 96;
const SPARK_HEIGHT = 22;

export class PoolStrip {
  private readonly rates = new Rates();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private fastUntil = 0;
  private asking = false;

  /** `seen` is told of every answer, and whether it is the first of a server that was started anew. */
  constructor(
    private readonly api: Api,
    private readonly seen: (pool: Pool, restarted: boolean) => void,
  ) {
    document.addEventListener("visibilitychange", () => this.wake());
    byId("pool-toggle").addEventListener("click", () => this.toggle());
    this.wake();
  }

  /** Asks faster for a while, as a walk has just moved pages. */
  hurry(): void {
    this.fastUntil = performance.now() + FAST_FOR_MS;
    this.wake();
  }

  /** Asks now, unless the page is hidden. */
  wake(): void {
    clearTimeout(this.timer);
    if (!document.hidden) void this.ask();
  }

  private toggle(): void {
    const details = byId("pool-details");
    details.hidden = !details.hidden;
    byId("pool-toggle").setAttribute("aria-expanded", String(!details.hidden));
  }

  private async ask(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    try {
      const pool = await this.api.get<Pool>("/pool");
      this.show(pool, this.rates.add(pool, performance.now()));
      byId("pool").classList.remove("stale");
      this.seen(pool, this.rates.restarted);
    } catch (error) {
      // The banner tells why; the strip only shows that its numbers are old. It is woken when the server is back.
      byId("pool").classList.add("stale");
      if (error instanceof ConnectionLost) return;
    } finally {
      this.asking = false;
    }
    if (document.hidden) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.ask(), performance.now() < this.fastUntil ? FAST_PAUSE_MS : PAUSE_MS);
  }

  private show(pool: Pool, samples: readonly Sample[]): void {
    const share = (frames: number): string => shareWidth(frames, pool.frames_max);
    byId("pool-resident").style.width = share(pool.resident);
    byId("pool-dirty").style.width = share(pool.dirty);
    byId("pool-pinned").style.width = share(pool.pinned);
    byId("pool-frames").textContent = `${count(pool.resident)} of ${count(pool.frames_max)} frames`;
    const asked = pool.hits + pool.misses;
    byId("pool-hits").textContent = asked === 0 ? "–" : percent(pool.hits / asked);
    const last = samples.at(-1);
    byId("pool-reads").textContent = rate(last?.reads ?? 0);
    byId("pool-writes").textContent = rate(last?.writes ?? 0);
    spark(byId("pool-reads-spark"), samples.map((sample) => sample.reads));
    spark(byId("pool-writes-spark"), samples.map((sample) => sample.writes));
    if (!byId("pool-details").hidden) this.showDetails(pool);
  }

  private showDetails(pool: Pool): void {
    const facts: [string, string][] = [
      ["Resident", `${count(pool.resident)} (${bytes(pool.resident * pool.page_size)})`],
      ["At most", `${count(pool.frames_max)} (${bytes(pool.frames_max * pool.page_size)})`],
      ["Dirty", count(pool.dirty)],
      ["Pinned", count(pool.pinned)],
      ["Older versions", count(pool.older_versions)],
      ["Hits", count(pool.hits)],
      ["Misses", count(pool.misses)],
      ["Evictions", count(pool.evictions)],
      ["Pages read", count(pool.pages_read)],
      ["Pages written", count(pool.pages_written)],
      ["Data syncs", count(pool.data_syncs)],
      ["Log syncs", count(pool.log_syncs)],
      ["Requests", count(pool.requests)],
      ["Requests now", count(pool.requests_now)],
      ["Page size", bytes(pool.page_size)],
      ["Open for", age(pool.uptime_ms)],
    ];
    const rows = facts.map(([name, value]) => el("div", {}, el("dt", { text: name }), el("dd", { text: value })));
    byId("pool-facts").replaceChildren(...rows);
  }
}

/** The width of a part of the bar; whatever is not zero can be seen. */
export function shareWidth(frames: number, most: number): string {
  return frames <= 0 ? "0px" : `max(2px, ${Math.min(100, (100 * frames) / Math.max(1, most))}%)`;
}

/** Draws numbers as a small line over its area; the highest one touches the top. */
function spark(place: HTMLElement, values: number[]): void {
  const top = Math.max(1, ...values);
  const step = SPARK_WIDTH / Math.max(1, Rates.LENGTH - 1);
  const start = SPARK_WIDTH - (values.length - 1) * step;
  const points = values.map((value, index) => {
    const y = SPARK_HEIGHT - 1 - (value / top) * (SPARK_HEIGHT - 3);
    return `${(start + index * step).toFixed(1)},${y.toFixed(1)}`;
  });
  const area = `${start.toFixed(1)},${SPARK_HEIGHT} ${points.join(" ")} ${SPARK_WIDTH},${SPARK_HEIGHT}`;
  place.replaceChildren(
    svg(
      "svg",
      { viewBox: `0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`, width: SPARK_WIDTH, height: SPARK_HEIGHT, "aria-hidden": "true" },
      svg("polygon", { points: area, class: "spark-area" }),
      svg("polyline", { points: points.join(" "), class: "spark-line" }),
    ),
  );
}
