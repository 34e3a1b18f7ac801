/** The servers of the compat suites: the embedded engine, and a real redis-server where there is one. */
import { ServerProcess } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { describe } from "vitest";

export const HOST = "127.0.0.1";
const { HOLDFAST_REDIS_SERVER = "" } = process.env;

export interface Server {
  readonly port: number;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Declares the suite once for each kind of server. */
export function onEachKind(declare: (start: () => Promise<Server>) => void): void {
  describe("embedded Valkey", () => declare(embedded));
  const missing = HOLDFAST_REDIS_SERVER === "";
  describe.skipIf(missing)(`redis-server${missing ? " (skipped: none here)" : ""}`, () =>
    declare(redisServer),
  );
}

async function embedded(): Promise<Server> {
  const valkey = await EmbeddedValkey.start();
  return { port: valkey.port, restart: () => valkey.restart(), stop: () => valkey.stop() };
}

async function redisServer(): Promise<Server> {
  const server = await ServerProcess.start({ program: HOLDFAST_REDIS_SERVER });
  return {
    port: server.port,
    async restart() {
      await server.kill();
      await server.launch();
    },
    stop: () => server.stop(),
  };
}
