// A process that takes as often as it is told, and says when each charge was under way.
import { once } from "node:events";
import { constants, setPriority } from "node:os";

// Thirty of these, and on the same machine other tests whose time counts.
setPriority(constants.priority.PRIORITY_LOW);
const { Holdfast } = await import("holdfast");
const { Redis } = await import("ioredis");

const { url, limits, isPlain, calls, atOnce } = JSON.parse(process.argv[2]);
const nowMs = () => Number(process.hrtime.bigint()) / 1e6;

const redis = new Redis(url);
const hf = new Holdfast(redis, { callTimeout: 20_000 });
const made = limits.map(({ name, options }) =>
  hf.limit(name, isPlain ? { ...options, block: undefined } : options),
);
const taken = made.map(() => []);
let left = calls;

async function visit() {
  while (left > 0) {
    left -= 1;
    const place = left % made.length;
    const cost = left % 7 === 0 ? 2 : 1;
    const invMs = nowMs();
    const { ok } = await made[place].take("t", cost);
    if (ok) taken[place].push(invMs, nowMs(), cost);
    // What is refused by what is remembered takes no time.
    if (left % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

await redis.ping();
process.send("ready");
await once(process, "message");
await Promise.all(Array.from({ length: atOnce }, visit));
await hf.close();
redis.disconnect();
process.send(taken, () => process.disconnect());
