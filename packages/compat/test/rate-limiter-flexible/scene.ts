/** Where the suites of rate-limiter-flexible run: each server, with a client of each of the libraries that the original is tried with. */
import { ManualClock, until } from "@holdfast/conformance";
import type { RedisClientLike } from "holdfast";
import { createClient } from "redis";
import { afterEach, beforeEach, describe } from "vitest";
import {
  closeHoldfasts,
  holdfastOf,
  type IRateLimiterRedisOptions,
  RateLimiterRedis,
  RateLimiterRes,
} from "../../src/rate-limiter-flexible/index.ts";
import { onEachServer, type Place } from "../place.ts";
import { HOST } from "../server.ts";

/** Long enough for a key to outlive any test, in seconds. */
export const LONG = 600;

export interface Scene {
  readonly place: Place;
  readonly client: RedisClientLike;
  /** A client whose connection was ended. */
  readonly gone: RedisClientLike;
  /** The time of this process, not of the server. */
  readonly clock: ManualClock;
  /** A key that no other test has. */
  readonly key: string;
  limiter(options: Partial<IRateLimiterRedisOptions>): RateLimiterRedis;
  /** Lets time pass, in steps, until the call has its result. Tells how much passed at most. */
  waited(call: Promise<RateLimiterRes>, stepMs: number): Promise<{ result: RateLimiterRes; ms: number }>;
  /** The text that Redis keeps for the key of a limiter. */
  stored(limiter: RateLimiterRedis): Promise<string | null>;
}

interface Connected {
  readonly client: RedisClientLike;
  end(): void;
}

const libraries: Record<string, (place: Place, port: number) => Promise<Connected>> = {
  async ioredis(place) {
    const client = place.client();
    return { client, end: () => client.disconnect() };
  },
  async "node-redis"(_, port) {
    const client = createClient({ socket: { host: HOST, port, reconnectStrategy: false } });
    client.on("error", () => {});
    await client.connect();
    return { client, end: () => client.isOpen && client.destroy() };
  },
};

/** Declares the suite once for each server and library. `scene()` is this test's. */
export function onEachScene(suite: (scene: () => Scene) => void): void {
  onEachServer((place) => {
    for (const [name, connect] of Object.entries(libraries))
      describe(name, () => {
        let scene: Scene;
        let end: () => Promise<void>;
        beforeEach(async () => {
          [scene, end] = await makeScene(place(), connect);
        });
        afterEach(() => end());
        suite(() => scene);
      });
  });
}

async function makeScene(
  place: Place,
  connect: (place: Place, port: number) => Promise<Connected>,
): Promise<[Scene, () => Promise<void>]> {
  const port = place.admin.options.port ?? 0;
  const [used, gone] = await Promise.all([connect(place, port), connect(place, port)]);
  gone.end();
  const clock = new ManualClock();
  for (const { client } of [used, gone]) holdfastOf(client, { clock, callTimeout: LONG * 1_000 });
  const key = place.name();
  const scene: Scene = {
    place,
    client: used.client,
    gone: gone.client,
    clock,
    key,
    limiter: (options) =>
      new RateLimiterRedis({ storeClient: used.client, points: 2, duration: LONG, ...options }),
    async waited(call, stepMs) {
      let result: RateLimiterRes | null = null;
      let ms = 0;
      const asked = call.then((answer) => {
        result = answer;
      });
      await until("time passes until the call is answered", () => {
        clock.advance(stepMs);
        ms += stepMs;
        return result;
      });
      await asked;
      return { result: result ?? (await call), ms };
    },
    stored: (limiter) => place.admin.get(limiter.getKey(key)),
  };
  const end = async (): Promise<void> => {
    await closeHoldfasts(used.client, gone.client);
    used.end();
  };
  return [scene, end];
}

/** The refusal with which a call rejects. */
export async function refusal(call: Promise<unknown>): Promise<RateLimiterRes> {
  const reason: unknown = await call.then(
    () => "it was admitted",
    (rejected: unknown) => rejected,
  );
  if (reason instanceof RateLimiterRes) return reason;
  throw new Error("the call was not refused", { cause: reason });
}
