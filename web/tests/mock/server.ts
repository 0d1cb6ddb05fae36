//! The mock server: the page's files with the real server's CSP, and the API of the contract.
//! Tests set how it misbehaves: a token, slow or refused paths, and being stopped and started.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import type { AddressInfo, Socket } from "node:net";

import { Answers, Refusal } from "./answers";

export const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** What a test makes of a request before it is answered; `true` when it has answered itself. */
export type Interference = (path: string, query: URLSearchParams, response: ServerResponse) => boolean | Promise<boolean>;

export class MockServer {
  token: string | null = null;
  interfere: Interference | null = null;
  /** Changes what the answers say, as for a database without indexes. */
  rewrite: ((path: string, answer: unknown) => unknown) | null = null;
  /** Others in their place are a server that was started anew, faster than anyone could see. */
  answers = new Answers();
  /** Paths of the API that were asked for. */
  readonly asked: string[] = [];
  private server: Server | null = null;
  private readonly sockets = new Set<Socket>();
  private port = 0;

  constructor(private readonly folder: string) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  /** Starts, on the same port as before when it was stopped. */
  async start(port = this.port): Promise<void> {
    const server = createServer((request, response) => void this.handle(request, response));
    this.server = server;
    server.on("connection", (socket) => {
      this.sockets.add(socket);
      socket.on("close", () => this.sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      server.on("error", reject);
      server.listen(port, "127.0.0.1", resolve);
    });
    this.port = (server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const { server } = this;
    if (!server) return;
    this.server = null;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url);
    const api = /^\/api\/v1\/(.*)$/.exec(url.pathname)?.[1];
    try {
      if (api === undefined) await this.file(url.pathname, response);
      else await this.api(api, url.searchParams, request, response);
    } catch (error) {
      const refusal = error instanceof Refusal ? error : new Refusal(500, "internal", String(error));
      refuse(response, refusal);
    }
  }

  private async file(path: string, response: ServerResponse): Promise<void> {
    const name = normalize(path === "/" ? "/index.html" : path);
    try {
      const body = await readFile(join(this.folder, name));
      response.writeHead(200, { "Content-Type": TYPES[extname(name)] ?? "application/octet-stream", "Content-Security-Policy": CSP });
      response.end(body);
    } catch {
      throw new Refusal(404, "not_found", `There is no file ${name}.`);
    }
  }

  private async api(path: string, query: URLSearchParams, request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.asked.push(path);
    if (this.token !== null && request.headers.authorization !== `Bearer ${this.token}`) {
      response.setHeader("WWW-Authenticate", "Bearer");
      throw new Refusal(401, "unauthorized", "This server wants a token.", "Send it as Authorization: Bearer TOKEN.");
    }
    if (this.interfere && (await this.interfere(path, query, response))) return;
    const answer = this.answers.answer(path, query);
    response.writeHead(200, { "Content-Type": "application/json; charset=utf-8" });
    response.end(JSON.stringify(this.rewrite ? this.rewrite(path, answer) : answer));
  }
}

export function refuse(response: ServerResponse, { status, code, message, hint }: Refusal): void {
  response.writeHead(status, { "Content-Type": "application/json; charset=utf-8" });
  response.end(JSON.stringify({ error: { code, message, hint } }));
}
