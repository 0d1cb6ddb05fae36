//! Whether the server can be reached. When it cannot, asks again with growing pauses until it answers.

import { Emitter } from "./emitter";

/** Pauses between attempts, in milliseconds; the last one repeats. */
const PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000];

export interface ConnectionEvents {
  lost: undefined;
  /** The next attempt is in so many milliseconds. */
  waiting: number;
  back: undefined;
}

export class Connection extends Emitter<ConnectionEvents> {
  private attempts = 0;
  private timer: ReturnType<typeof setTimeout> | null = null;

  /** `attempt` asks the server for something small and rejects when it is not reached. */
  constructor(private readonly attempt: () => Promise<unknown>) {
    super();
  }

  get isLost(): boolean {
    return this.attempts > 0;
  }

  /** A request did not reach the server. */
  lost(): void {
    if (this.timer !== null || this.isLost) return;
    this.attempts = 1;
    this.emit("lost", undefined);
    this.wait();
  }

  /** The server answered. */
  reached(): void {
    if (!this.isLost) return;
    this.attempts = 0;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.emit("back", undefined);
  }

  /** Asks again at once, as when the person does not want to wait. */
  tryNow(): void {
    if (this.timer === null) return;
    clearTimeout(this.timer);
    this.timer = null;
    void this.again();
  }

  private wait(): void {
    const pause = PAUSES_MS[Math.min(this.attempts, PAUSES_MS.length) - 1] ?? 15_000;
    this.emit("waiting", pause);
    this.timer = setTimeout(() => {
      this.timer = null;
      void this.again();
    }, pause);
  }

  private async again(): Promise<void> {
    try {
      await this.attempt();
    } catch {
      // Refusals are answers too, and end the waiting by `reached`.
    }
    if (!this.isLost || this.timer !== null) return;
    this.attempts += 1;
    this.wait();
  }
}
