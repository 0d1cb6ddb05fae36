//! The HTTP API's client: GET requests, the token, errors with their hints.
//!
//! Never shows anything itself: a lost connection and a refused token are told to the hooks.
//! A request that is told to wait (`Retry-After`) is tried once more, then its error stands.

import { parseAnswer } from "./values";

/** A refusal of the server, with what it advises. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string | null,
    /** Seconds after which the server wants to be asked again. */
    readonly retryAfter: number | null = null,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

/** The server could not be reached, or its answer broke off. */
export class ConnectionLost extends Error {
  constructor() {
    super("The server cannot be reached.");
    this.name = "ConnectionLost";
  }
}

export interface Hooks {
  /** A request did not reach the server. */
  lost(): void;
  /** The server answered, whatever it said. */
  reached(): void;
  /** There is no token that the server takes; resolves with another to try, which `isToken` holds for. */
  askToken(trouble: TokenTrouble): Promise<string>;
}

/** Why a token is asked for: none is known, the server refused it, or it was none that could be sent. */
export type TokenTrouble = "missing" | "refused" | "malformed";

export type Query = Record<string, string | number | null | undefined>;

const TOKEN_KEY = "hopdb-token";
/** The longest `Retry-After`, in seconds, that is waited for. */
const WAIT_SECONDS_MAX = 5;

export class Api {
  private token: string | null;
  private malformed = false;
  private asking: Promise<string> | null = null;

  constructor(
    private readonly base: string,
    private readonly hooks: Hooks,
  ) {
    this.token = readToken();
  }

  /** Takes a token from elsewhere, as from the address; one that no header can carry counts as none. */
  setToken(token: string): void {
    this.malformed = !isToken(token);
    if (this.malformed) return;
    this.token = token;
    try {
      sessionStorage.setItem(TOKEN_KEY, token);
    } catch {
      // Storage is switched off: the token lives as long as the page.
    }
  }

  /** The answer of `GET path`; throws `ApiError`, `ConnectionLost` or an `AbortError`. */
  async get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
    let waited = false;
    for (;;) {
      const used = this.token;
      const response = await this.send(path, query, used, signal);
      if (response.status === 401) {
        await this.newToken(used);
        continue;
      }
      const text = await this.text(response, signal);
      if (response.ok) return parse<T>(text);
      const seconds = secondsOf(response.headers.get("Retry-After"));
      if (response.status === 503 && !waited && seconds !== null && seconds <= WAIT_SECONDS_MAX) {
        waited = true;
        await pause(seconds * 1_000, signal);
        continue;
      }
      throw errorOf(response.status, text, seconds);
    }
  }

  private async send(path: string, query: Query, token: string | null, signal?: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { Accept: "application/json" };
    if (token !== null) headers["Authorization"] = `Bearer ${token}`;
    try {
      const init: RequestInit = { headers, cache: "no-store" };
      if (signal) init.signal = signal;
      const response = await fetch(`${this.base}${path}${queryText(query)}`, init);
      this.hooks.reached();
      return response;
    } catch (error) {
      throw this.failed(error, signal);
    }
  }

  private async text(response: Response, signal?: AbortSignal): Promise<string> {
    try {
      return await response.text();
    } catch (error) {
      throw this.failed(error, signal);
    }
  }

  private failed(error: unknown, signal?: AbortSignal): unknown {
    if (signal?.aborted) return error;
    this.hooks.lost();
    return new ConnectionLost();
  }

  /** Waits for a token other than the one that was refused; requests side by side ask once. */
  private async newToken(used: string | null): Promise<void> {
    if (this.token !== used) return;
    this.asking ??= this.hooks.askToken(this.malformed ? "malformed" : used === null ? "missing" : "refused");
    try {
      this.setToken(await this.asking);
    } finally {
      this.asking = null;
    }
  }
}

function readToken(): string | null {
  try {
    const token = sessionStorage.getItem(TOKEN_KEY);
    return token !== null && isToken(token) ? token : null;
  } catch {
    return null;
  }
}

/** Whether a text can be a token: letters, digits and signs of ASCII, without spaces; no header carries others. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

function queryText(query: Query): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) params.set(key, String(value));
  }
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}

function parse<T>(text: string): T {
  try {
    return parseAnswer(text) as T;
  } catch {
    throw new ApiError(200, "not_json", "The answer of the server is not JSON.", "Is this the HopDB server?");
  }
}

/** A `Retry-After` in seconds; null without one, and for a date, which the server does not send. */
function secondsOf(text: string | null): number | null {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : null;
}

function errorOf(status: number, text: string, retryAfter: number | null): ApiError {
  try {
    const { code, message, hint } = (JSON.parse(text) as { error: Record<string, string | null> }).error;
    return new ApiError(status, code ?? "internal", message ?? `The server answered ${status}.`, hint ?? null, retryAfter);
  } catch {
    return new ApiError(status, "internal", `The server answered ${status}.`, null, retryAfter);
  }
}

/** Resolves after `ms`; rejects when the request is given up meanwhile. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("given up", "AbortError"));
    });
  });
}

/** Whether an error only says that its request was given up. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** What to tell a person about an error: what was wrong and the way out. */
export function explain(error: unknown): { message: string; hint: string | null } {
  if (error instanceof ApiError) {
    const damaged = error.code === "damaged" ? "The database file is damaged here. " : "";
    return { message: damaged + error.message, hint: error.hint };
  }
  if (error instanceof ConnectionLost) return { message: error.message, hint: "The page goes on when it is back." };
  return { message: error instanceof Error ? error.message : String(error), hint: null };
}
