//! Runs the mock server by itself, to look at the page without a database: `npm run mock`.

import { MockServer } from "./server";

const server = new MockServer(process.env["HOPDB_DIST"] ?? "dist");
await server.start(Number(process.env["PORT"] ?? 4_680));
console.log(`The mock server listens at ${server.url}`);
