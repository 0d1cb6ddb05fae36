//! Arrow keys in a drawing: which neighbour lies in a direction. Pure.

export interface Place {
  x: number;
  y: number;
}

export const ARROWS: Record<string, number> = {
  ArrowRight: 0,
  ArrowDown: Math.PI / 2,
  ArrowLeft: Math.PI,
  ArrowUp: -Math.PI / 2,
};

/**
 * The place that lies best in the direction of `angle` from `from`: within a quarter turn of it,
 * a small turn away before a small distance. Null when all lie elsewhere.
 */
export function steer<T extends Place>(from: Place, angle: number, places: T[]): T | null {
  let best: T | null = null;
  let least = Infinity;
  for (const place of places) {
    const dx = place.x - from.x;
    const dy = place.y - from.y;
    const turn = Math.abs(Math.atan2(Math.sin(Math.atan2(dy, dx) - angle), Math.cos(Math.atan2(dy, dx) - angle)));
    if (turn > Math.PI / 2 - 0.01) continue;
    const cost = Math.hypot(dx, dy) * (1 + 3 * turn * turn);
    if (cost < least) {
      least = cost;
      best = place;
    }
  }
  return best;
}
