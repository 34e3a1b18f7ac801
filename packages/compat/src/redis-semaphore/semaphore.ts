/** Semaphore and MultiSemaphore: the classes of npm redis-semaphore 5, on Holdfast's semaphore. Both count on one key, as there. */
import { InvalidArgumentError, type RedisClientLike } from "holdfast";
import { Lock, type LockKind, type LockOptions } from "./lock.js";

function kindOf(name: "semaphore" | "multi-semaphore", limit: number, permits: number): LockKind {
  return {
    name,
    stem: "semaphore",
    acquire: (holdfast, key, { ttl, wait, signal }) =>
      holdfast.semaphore(key, { permits: limit, ttl }).acquire({ permits, wait, signal }),
    holders: async (inspector, key) => (await inspector.semaphore(key)).holders,
  };
}

/** @throws {InvalidArgumentError} with the messages of the original */
function checkCount(name: "limit" | "permits", count: unknown): void {
  if (!count) throw new InvalidArgumentError(`"${name}"`, "is required");
  if (typeof count !== "number") throw new InvalidArgumentError(`"${name}"`, "must be a number");
}

export class Semaphore extends Lock {
  /**
   * @param key The name at Holdfast is `semaphore:<key>`.
   * @param limit Number of locks that can be held at a time. Give the same in every process.
   * @throws {InvalidArgumentError} with the messages of the original
   */
  constructor(client: RedisClientLike, key: string, limit: number, options: LockOptions = {}) {
    super(kindOf("semaphore", limit, 1), client, key, options);
    checkCount("limit", limit);
  }
}

export class MultiSemaphore extends Lock {
  /**
   * @param key The name at Holdfast is `semaphore:<key>`.
   * @param limit Number of permits that can be held at a time. Give the same in every process.
   * @param permits Number of permits that this lock takes.
   * @throws {InvalidArgumentError} with the messages of the original
   */
  constructor(
    client: RedisClientLike,
    key: string,
    limit: number,
    permits: number,
    options: LockOptions = {},
  ) {
    super(kindOf("multi-semaphore", limit, permits), client, key, options);
    checkCount("limit", limit);
    checkCount("permits", permits);
  }
}
