// The first examples of the README of redlock 4, over clients of ioredis.
const { Redis } = require("ioredis");
const Redlock = require("redlock4");

/** @type {any[]} The declarations of redlock 4 are older than those of ioredis 6. */
const clients = [new Redis(), new Redis(), new Redis()];
const redlock = new Redlock(clients, {
  driftFactor: 0.01,
  retryCount: 10,
  retryDelay: 200,
  retryJitter: 200,
});
redlock.on("clientError", (error) => console.error(error));

redlock.lock("locks:account:322456", 1_000).then((lock) =>
  lock
    .extend(1_000)
    .then((extended) => extended.unlock())
    .catch((error) => console.error(error)),
);
redlock.lock("locks:account:322456", 1_000, (error, lock) => {
  if (error) console.error(error.message);
  else lock?.unlock((failed) => console.error(failed));
});
// @ts-expect-error a ttl is a number
redlock.lock("locks:account:322456", "1s");
