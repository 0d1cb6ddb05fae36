//! What became of the server's database between two answers of `/database`. Pure.

import type { Database } from "./types";

/** `same`: nothing; `reopened`: the same database was opened anew; `other`: its ids mean other nodes now. */
export type Change = "same" | "reopened" | "other";

/**
 * Tells a restart by `opened`, and by the name and the counts whether it came back with the same
 * database. A server that does not send `opened` is judged by name and counts alone.
 */
export function changeOf(before: Database, now: Database): Change {
  const alike = before.name === now.name && before.nodes === now.nodes && before.relationships === now.relationships;
  if (before.opened === undefined || now.opened === undefined) return alike ? "same" : "other";
  if (before.opened === now.opened) return "same";
  return alike ? "reopened" : "other";
}
