/** A program in TypeScript with the types of @types/redlock 4. */
import { Redis } from "ioredis";

import Redlock = require("redlock4");

const options: Redlock.Options = {};
options.retryCount = 3;
const redlock: Redlock = new Redlock([new Redis() as never], options);

async function work(names: string[]): Promise<Redlock.Lock | null> {
  try {
    return await redlock.acquire(names, 1_000);
  } catch (error) {
    if (error instanceof Redlock.LockError) console.error(error.attempts, error.message);
    return null;
  }
}

const done: Redlock.Callback<void> = (error) => console.error(error);
work(["a", "b"]).then((lock) => {
  if (lock) redlock.unlock(lock, done);
  // @ts-expect-error a lock has no such member
  console.log(lock?.locked);
});
