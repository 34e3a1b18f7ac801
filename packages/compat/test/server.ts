/** The servers of the compat suites: the embedded engine, and a real redis-server where there is one. */
import { freePort, needing, program, ServerProcess } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { describe } from "vitest";

export const HOST = "127.0.0.1";

export interface Server {
  readonly port: number;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Declares the suite once for each kind of server. */
export function onEachKind(declare: (start: () => Promise<Server>) => void): void {
  describe("embedded Valkey", () => declare(embedded));
  needing(describe, "redis-server")("redis-server", () => declare(redisServer));
}

async function embedded(): Promise<Server> {
  const valkey = await EmbeddedValkey.start({ port: await freePort() });
  return { port: valkey.port, restart: () => valkey.restart(), stop: () => valkey.stop() };
}

async function redisServer(): Promise<Server> {
  const server = await ServerProcess.start({ program: program("redis-server") });
  return {
    port: server.port,
    async restart() {
      await server.kill();
      await server.launch();
    },
    stop: () => server.stop(),
  };
}
