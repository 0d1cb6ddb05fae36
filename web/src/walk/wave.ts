//! The timing of a hop's wave: how far each relationship has lit up, a number of milliseconds
//! after the hop began. Pure; draws nothing.

/** Time in which the fronts of one hop set out, one after another. */
const SPREAD_MS = 420;
/** Time of one front from node to node. */
const TRAVEL_MS = 620;
/** Time in which a reached node settles. */
const RING_MS = 420;

/** How long a hop's wave lasts, from the first front to the last ring. */
export const WAVE_MS = SPREAD_MS + TRAVEL_MS + RING_MS;

/** When the relationship at `index` of `total` sets out, after the hop began. */
export function departure(index: number, total: number): number {
  return total <= 1 ? 0 : (SPREAD_MS * index) / (total - 1);
}

/** The share of its way that a front has gone: 0 before it sets out, 1 from its arrival on. */
export function progress(elapsed: number, index: number, total: number): number {
  const share = (elapsed - departure(index, total)) / TRAVEL_MS;
  return ease(Math.min(1, Math.max(0, share)));
}

/** The share of a reached node's ring, 0 to 1, from the arrival of its front on. */
export function ringShare(elapsed: number, index: number, total: number): number {
  const share = (elapsed - departure(index, total) - TRAVEL_MS) / RING_MS;
  return Math.min(1, Math.max(0, share));
}

/** Slow, fast, slow. */
function ease(share: number): number {
  return share < 0.5 ? 2 * share * share : 1 - (2 - 2 * share) ** 2 / 2;
}
