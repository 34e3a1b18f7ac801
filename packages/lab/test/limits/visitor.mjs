// A thread with several clients, each with a connection and a Holdfast of its own: they take as often as they are told,
// and say when each charge was under way.
import { parentPort, workerData } from "node:worker_threads";
import { Holdfast } from "holdfast";
import { Redis } from "ioredis";

const { url, limits, clients, calls, atOnce } = workerData;
const nowMs = () => Number(process.hrtime.bigint()) / 1e6;

/** Every second one without blocks. */
async function clientOf(place) {
  const redis = new Redis(url);
  const hf = new Holdfast(redis, { callTimeoutMs: 20_000 });
  const isPlain = place % 2 === 1;
  const made = limits.map(({ name, options }) =>
    hf.limit(name, isPlain ? { ...options, block: undefined } : options),
  );
  await redis.ping();
  return { redis, hf, made };
}

async function visits({ redis, hf, made }) {
  const taken = made.map(() => []);
  let left = calls;
  const visit = async () => {
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
  };
  await Promise.all(Array.from({ length: atOnce }, visit));
  await hf.close();
  redis.disconnect();
  return taken;
}

const all = await Promise.all(Array.from({ length: clients }, (_, place) => clientOf(place)));
parentPort.postMessage("ready");
await new Promise((resolve) => parentPort.once("message", resolve));
parentPort.postMessage(await Promise.all(all.map(visits)));
parentPort.close();
