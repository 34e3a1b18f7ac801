/** The servers that the command is tried on: each started for one test file, on a free port, and ended by it. */
import { ServerProcess } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";

export interface TestServer {
  readonly url: string;
  /** For what no command of ours does: deleting keys, looking at them. */
  readonly redis: Redis;
  stop(): Promise<void>;
}

export interface ServerKind {
  readonly title: string;
  readonly missing: boolean;
  start(): Promise<TestServer>;
}

export const SERVERS: readonly ServerKind[] = [
  { title: "embedded Valkey", missing: false, start: startEmbedded },
  { title: "redis-server", missing: !process.env["HOLDFAST_REDIS_SERVER"], start: startRedisServer },
];

export async function startEmbedded(): Promise<TestServer> {
  const valkey = await EmbeddedValkey.start();
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

async function startRedisServer(): Promise<TestServer> {
  const server = await ServerProcess.start({ program: process.env["HOLDFAST_REDIS_SERVER"] ?? "" });
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

function connectTo(url: string): Redis {
  const redis = new Redis(url, { retryStrategy: () => 5, maxRetriesPerRequest: null });
  redis.on("error", () => {});
  return redis;
}
