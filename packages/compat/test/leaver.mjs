// A process that waits for a lock, holds one, and ends its client without a word to holdfast. Runs the compiled library, as users do.
import { createRequire } from "node:module";
import { Redlock as Redlock5 } from "@holdfast/compat/redlock";
import { Redis } from "ioredis";

const Redlock4 = createRequire(import.meta.url)("@holdfast/compat/redlock-4");
const [url, key, kind] = process.argv.slice(2);
const HELD_MS = 60_000;
const client = new Redis(url);

if (kind === "waited") {
  const redlock = new Redlock4([client], { retryCount: 100, retryDelay: 50 });
  const first = await redlock.lock(key, HELD_MS);
  const second = redlock.lock(key, HELD_MS);
  setTimeout(() => first.unlock(), 50);
  await (await second).unlock();
} else if (kind === "held") {
  await new Redlock5([client]).acquire([key], HELD_MS);
} else if (kind === "quit") {
  const redlock = new Redlock4([client]);
  await redlock.lock(key, HELD_MS);
  await redlock.quit();
} else {
  await (await new Redlock4([client]).lock(key, HELD_MS)).unlock();
}
if (kind !== "quit") await client.quit();
