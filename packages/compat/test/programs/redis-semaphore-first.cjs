// The first examples of the README of redis-semaphore.
const { Redis } = require("ioredis");
const { Mutex } = require("redis-semaphore");

const client = new Redis();

/** @param {() => Promise<void>} step */
async function work(step) {
  const mutex = new Mutex(client, "resource", {
    onLockLost(error) {
      console.error(this.identifier, error.message);
    },
  });
  await mutex.acquire();
  try {
    while (mutex.isAcquired) await step();
  } finally {
    await mutex.release();
  }
}

work(async () => {});
// @ts-expect-error a key is text
new Mutex(client, 5);
