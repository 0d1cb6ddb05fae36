//! Which captions are written: only where there is room, the important ones first. Pure.

export interface Candidate {
  /** Middle of the text and its upper border, in CSS pixels. */
  x: number;
  y: number;
  width: number;
  height: number;
  /** Larger is written first. */
  weight: number;
}

/** Side of a square of the grid in which taken places are looked up. */
const SQUARE = 64;
/** Free room kept around each text. */
const ROOM = 3;

/** The candidates that fit without lying over one another, at most `limit`, heaviest first. */
export function placeLabels<T extends Candidate>(candidates: T[], limit: number): T[] {
  const sorted = [...candidates].sort((a, b) => b.weight - a.weight);
  const taken = new Map<number, Candidate[]>();
  const placed: T[] = [];
  for (const candidate of sorted) {
    if (placed.length >= limit) break;
    const squares = squaresOf(candidate);
    if (squares.some((square) => taken.get(square)?.some((other) => overlap(candidate, other)))) continue;
    placed.push(candidate);
    for (const square of squares) {
      const list = taken.get(square);
      if (list) list.push(candidate);
      else taken.set(square, [candidate]);
    }
  }
  return placed;
}

function overlap(a: Candidate, b: Candidate): boolean {
  const apart = Math.abs(a.x - b.x) >= (a.width + b.width) / 2 + ROOM;
  return !apart && a.y < b.y + b.height + ROOM && b.y < a.y + a.height + ROOM;
}

function squaresOf({ x, y, width, height }: Candidate): number[] {
  const squares: number[] = [];
  const right = Math.floor((x + width / 2 + ROOM) / SQUARE);
  const bottom = Math.floor((y + height + ROOM) / SQUARE);
  for (let column = Math.floor((x - width / 2 - ROOM) / SQUARE); column <= right; column += 1) {
    for (let row = Math.floor((y - ROOM) / SQUARE); row <= bottom; row += 1) squares.push(column * 65_536 + row);
  }
  return squares;
}
