/** Mutex: the class of npm redis-semaphore 5, on Holdfast's mutex. */
import type { RedisClientLike } from "holdfast";
import { Lock, type LockKind, type LockOptions } from "./lock.js";

const MUTEX: LockKind = {
  name: "mutex",
  stem: "mutex",
  acquire: (holdfast, name, { ttl, wait, signal }) => holdfast.mutex(name, { ttl }).acquire({ wait, signal }),
  async holders(inspector, name) {
    const { holder } = await inspector.lock(name);
    return holder ? [holder] : [];
  },
};

export class Mutex extends Lock {
  /**
   * @param key The name at Holdfast is `mutex:<key>`.
   * @throws {InvalidArgumentError} with the messages of the original
   */
  constructor(client: RedisClientLike, key: string, options: LockOptions = {}) {
    super(MUTEX, client, key, options);
  }
}
