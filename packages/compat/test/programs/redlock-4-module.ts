/** The same in an ES module, and a wrapper with options that change. */
import { Redis } from "ioredis";
import Redlock from "redlock4";

export class Locks {
  private readonly redlock: Redlock;

  constructor(url: string) {
    this.redlock = new Redlock([new Redis(url) as never]);
    this.redlock.retryCount = 0;
  }

  async take(name: string, ttl: number): Promise<Redlock.Lock | null> {
    try {
      return await this.redlock.acquire(name, ttl);
    } catch (error) {
      if (error instanceof Redlock.LockError) return null;
      throw error;
    }
  }

  async give(lock: Redlock.Lock): Promise<void> {
    const { redlock, value } = lock;
    console.log(value);
    await redlock.release(lock);
  }
}
