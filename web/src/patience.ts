//! Asking until there is an answer, where the page cannot go on without one.

import { ApiError } from "./api";

/** Pauses between attempts, in milliseconds; the last one repeats. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000];

/**
 * The answer of `ask`, asked again after each refusal that may pass (busy, a fault of the server),
 * after the time that the server names or a growing pause. `told` hears of each refusal and of the
 * milliseconds until the next attempt. What no patience helps against is thrown.
 */
export async function untilAnswered<T>(ask: () => Promise<T>, told: (error: ApiError, pause: number) => void): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status < 500) throw error;
      const pause = error.retryAfter === null ? (PAUSES_MS[Math.min(attempt, PAUSES_MS.length - 1)] ?? 15_000) : 1_000 * error.retryAfter;
      told(error, pause);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
