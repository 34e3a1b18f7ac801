/** The servers that the command is tried on: each started for one test file, on a free port, and ended by it. */
import { freePort, type ProgramName, program, ServerProcess, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast, type HoldfastOptions } from "holdfast";
import { Redis } from "ioredis";
import { afterAll } from "vitest";

export interface TestServer {
  readonly url: string;
  /** For what no command of ours does: deleting keys, looking at them. */
  readonly redis: Redis;
  stop(): Promise<void>;
}

export interface ServerKind {
  readonly title: string;
  /** What it cannot do without. */
  readonly needs: readonly ProgramName[];
  start(): Promise<TestServer>;
}

const embedded: ServerKind = { title: "embedded Valkey", needs: [], start: startEmbedded };
const redis: ServerKind = {
  title: "redis-server",
  needs: ["redis-server"],
  start: startRedisServer,
};

/** In the soak each suite runs on both; else on the embedded engine, or on redis-server where there is one. */
const onBoth = process.env["HOLDFAST_TEST_SOAK"] === "1";
export const EMBEDDED_FIRST: readonly ServerKind[] = onBoth ? [embedded, redis] : [embedded];
export const REDIS_FIRST: readonly ServerKind[] = onBoth
  ? [redis, embedded]
  : [program("redis-server") === "" ? embedded : redis];

export async function startEmbedded(): Promise<TestServer> {
  const valkey = await EmbeddedValkey.start({ port: await freePort() });
  const redis = connectTo(valkey.url);
  return {
    url: valkey.url,
    redis,
    async stop() {
      redis.disconnect();
      await valkey.stop();
    },
  };
}

/** The embedded engine, and the library beside the command, until the tests of the file have ended. */
export async function startBeside(
  options?: HoldfastOptions,
): Promise<{ readonly server: TestServer; readonly hf: Holdfast }> {
  const server = await startEmbedded();
  const hf = new Holdfast(server.redis, options);
  afterAll(async () => {
    await hf.close();
    await server.stop();
  });
  return { server, hf };
}

async function startRedisServer(): Promise<TestServer> {
  const server = await ServerProcess.start({ program: program("redis-server") });
  const url = `redis://${server.host}:${server.port}`;
  const redis = connectTo(url);
  return {
    url,
    redis,
    async stop() {
      redis.disconnect();
      await server.stop();
    },
  };
}

/** Until so many processes hear what is said to them there: a holder does once it has held for a moment. */
export async function untilListening(url: string, processes: number): Promise<void> {
  const redis = connectTo(url);
  try {
    await until(
      `${processes} listen`,
      async () => (await redis.pubsub("CHANNELS", "holdfast:inbox:*")).length === processes,
    );
  } finally {
    redis.disconnect();
  }
}

function connectTo(url: string): Redis {
  const redis = new Redis(url, { retryStrategy: () => 5, maxRetriesPerRequest: null });
  redis.on("error", () => {});
  return redis;
}
