/** Processes over one server, for the suites of work that is carried out once. */
import { UNHURRIED } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll } from "vitest";
import { Holdfast, type HoldfastOptions } from "../../src/index.js";

export interface Place {
  readonly redis: Redis;
  /** A Holdfast with a client of its own: to the others, another process. */
  open(options?: HoldfastOptions): Holdfast;
}

export function place(): Place {
  let server: EmbeddedValkey;
  let redis: Redis;
  let opened: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    server = await EmbeddedValkey.start();
    redis = new Redis(server.url);
  });
  afterEach(async () => {
    await Promise.all(opened.map((close) => close()));
    opened = [];
    await redis.flushall();
  });
  afterAll(async () => {
    redis?.disconnect();
    await server?.stop();
  });
  return {
    get redis() {
      return redis;
    },
    open(options) {
      const client = new Redis(server.url);
      const hf = new Holdfast(client, { ...UNHURRIED, ...options });
      opened.push(async () => {
        await hf.close();
        client.disconnect();
      });
      return hf;
    },
  };
}
