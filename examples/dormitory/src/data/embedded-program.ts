/**
 * The program that owns the embedded PostgreSQL. It says "ready" with its port, and ends with the process that started it.
 * Arguments: the folder of the data, and the port, 0 for a free one. After a crash another one goes on with the same.
 */
import { rmSync } from "node:fs";
import { PGlite } from "@electric-sql/pglite";
import type { FromProgram, ToProgram } from "../setup.js";
import { serveDatabase } from "./wire-server.js";

const [, , folder, port] = process.argv;

function say(message: FromProgram): void {
  if (process.connected) process.send?.(message);
}

process.on("SIGINT", () => {}); // Ctrl-C reaches the whole group; the first process says when to stop.
process.on("disconnect", () => {
  // The first process is gone, and nobody else removes the data.
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});

try {
  const db = await PGlite.create(folder);
  const server = await serveDatabase(db, Number(port ?? 0));
  process.on("message", (message: ToProgram) => {
    if (message.type !== "stop") return;
    void server.close().then(() => process.exit(0));
  });
  say({ type: "ready", port: server.port });
} catch (error) {
  say({ type: "failed", message: error instanceof Error ? error.message : String(error) });
}
