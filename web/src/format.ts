//! Numbers and sizes as text. Pure.

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** A count with its thousands apart: `20,000`. */
export function count(value: number): string {
  return WHOLE.format(value);
}

/** `1 node`, `2 nodes`: the plural is the noun with an s. */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** A size in bytes with a binary unit: `4 KiB`, `1.5 MiB`. */
export function bytes(value: number): string {
  let unit = 0;
  let size = value;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${trimmed(size)} ${UNITS[unit] ?? ""}`;
}

/** A time in microseconds: `312 µs`, `1.2 ms`, `3.4 s`. */
export function micros(value: number): string {
  if (value < 1_000) return `${trimmed(value)} µs`;
  if (value < 1_000_000) return `${trimmed(value / 1_000)} ms`;
  return `${trimmed(value / 1_000_000)} s`;
}

/** A share of one as per cent; one that is nearly whole is not rounded up to whole. */
export function percent(share: number): string {
  if (share > 0.999 && share < 1) return "> 99.9 %";
  return `${trimmed(share * 100)} %`;
}

/** How many per second, short: `0`, `7.5`, `1,200`. */
export function rate(value: number): string {
  return value === 0 || value >= 10 ? count(value) : trimmed(value);
}

/** A length of time in milliseconds: `12 s`, `5 min`, `3 h`. */
export function age(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  return `${count(Math.floor(seconds / 3_600))} h`;
}

/** An offset in hexadecimal, four digits or more: `0x0fa0`. */
export function hex(value: number): string {
  return `0x${value.toString(16).padStart(4, "0")}`;
}

/** One decimal below a hundred, none where it would be zero or above. */
function trimmed(value: number): string {
  if (value >= 100) return count(value);
  return String(Math.round(value * 10) / 10);
}
