/** The servers that the command is tried on: each started for one test file, on a free port, and ended by it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
  const options = ["--bind", "127.0.0.1", "--port", String(port), "--dir", folder, "--save", ""];
  const child = spawn(process.env["HOLDFAST_REDIS_SERVER"] ?? "", options, { stdio: "ignore" });
  const url = `redis://127.0.0.1:${port}`;
  const redis = connectTo(url);
  await redis.ping();
  return {
    url,
    redis,
    async stop() {
      redis.disconnect();
      child.kill("SIGKILL");
      await once(child, "exit");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function connectTo(url: string): Redis {
  const redis = new Redis(url, { retryStrategy: () => 5, maxRetriesPerRequest: null });
  redis.on("error", () => {});
  return redis;
}

async function freePort(): Promise<number> {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as AddressInfo;
  await new Promise((resolve) => listener.close(resolve));
  return port;
}
