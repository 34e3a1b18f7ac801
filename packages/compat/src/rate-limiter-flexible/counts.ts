/**
 * Counts: the points of each key in Redis, which one script changes. The keys and values are those of the original, so that
 * processes with the original and processes with this module count together.
 *
 * No type of holdfast's own limits fits: the original counts refused calls too, and a key may be above its points, below 0, or
 * blocked for longer than its duration.
 */
import type { Clock, RedisClientLike, Reply } from "holdfast";
import { IndeterminateError } from "holdfast";
import { sharedHoldfast } from "../shared-holdfast.js";
import { script } from "./lua/count.lua.js";

export interface Count {
  readonly points: number;
  /** Milliseconds until the key expires; -1: never. */
  readonly ttlMs: number;
}

export interface Adding {
  readonly lifeMs: number;
  /** The count from which the key is over its limit. */
  readonly limit: number;
  /** For how long the call blocks the key that brings it over its limit; 0: it does not. */
  readonly blockMs: number;
}

export class Counts {
  readonly #client: RedisClientLike;

  /** @throws {InvalidArgumentError} @throws {UnsupportedClientError} */
  constructor(client: RedisClientLike) {
    sharedHoldfast(client);
    this.#client = client;
  }

  get clock(): Clock {
    return sharedHoldfast(this.#client).clock;
  }

  async add(key: string, points: number, { lifeMs, limit, blockMs }: Adding): Promise<Count> {
    return readCount(await this.#run(key, ["add", points, lifeMs, limit, blockMs]));
  }

  /** @param lifeMs 0 has no end */
  async set(key: string, points: number, lifeMs: number): Promise<void> {
    await this.#run(key, ["set", points, lifeMs, 0, 0]);
  }

  async get(key: string): Promise<Count | null> {
    const reply = await this.#run(key, ["get", 0, 0, 0, 0]);
    return reply === null ? null : readCount(reply);
  }

  async delete(key: string): Promise<boolean> {
    return Number(await this.#run(key, ["delete", 0, 0, 0, 0])) > 0;
  }

  #run(key: string, words: readonly (string | number)[]): Promise<Reply> {
    // Asked for each time, because a program may have closed the one before.
    return sharedHoldfast(this.#client).holdfast.script(script, [key], words.map(String));
  }
}

/** Some clients return numbers as text. @throws {IndeterminateError} the reply belongs to another call */
function readCount(reply: Reply): Count {
  if (!Array.isArray(reply) || reply.length !== 2)
    throw new IndeterminateError("Redis answered something else than was asked");
  const [points, ttlMs] = reply;
  return { points: Number(points), ttlMs: Number(ttlMs) };
}
