// A process that pushes messages or consumes them, and writes down what it does. It may be killed at any moment.
import { once } from "node:events";
import { constants, setPriority } from "node:os";
import { setTimeout } from "node:timers/promises";

setPriority(constants.priority.PRIORITY_LOW);
const { Holdfast } = await import("holdfast");
const { Redis } = await import("ioredis");
const { appendTo } = await import("../../dist/history/ndjson.js");
const { Recorder } = await import("../../dist/history/recorder.js");

// The test that started it has ended.
process.on("disconnect", () => process.exit());

const { url, name, journal, deadlineMs, from, count, batch, paceMs, concurrency, failShare } = JSON.parse(
  process.argv[2],
);
const nowMs = () => Number(process.hrtime.bigint()) / 1e6;
const recorder = new Recorder(name, nowMs, appendTo(journal));
const redis = new Redis(url);
const hf = new Holdfast(redis, { callTimeout: 20_000 });
const queue = hf.queue("jobs", { deadline: deadlineMs, maxAttempts: 1_000 });

/** The bodies are numbered: a message that is there twice is seen by its body. */
async function produce() {
  for (let at = from; at < from + count; at += batch) {
    const bodies = Array.from({ length: batch }, (_, place) => `${name} ${at + place}`);
    const sent = (all) => ({
      messages: bodies.map((body, place) => ({
        body,
        id: all?.[place].id ?? null,
        isNew: all ? true : null,
      })),
    });
    const pending = recorder.begin("push", "jobs", { value: sent(null) });
    try {
      pending.ok({ value: sent(await queue.pushMany(bodies)) });
    } catch (error) {
      pending.info(String(error));
    }
    await setTimeout(paceMs);
  }
}

async function handle(delivery) {
  const { id, body, attempt, token } = delivery;
  recorder.begin("deliver", "jobs", { token, value: { id, body, attempt } }).ok();
  if (Math.random() < failShare) throw new Error("a handler that fails on purpose");
  const value = { id };
  const pending = recorder.begin("ack", "jobs", { token, value });
  // Half of them want to know that their ack has counted.
  if (Number(id) % 2 === 0) {
    pending.info("by returning");
    return;
  }
  try {
    await delivery.ack();
    pending.ok();
  } catch (error) {
    if (error.code === "DELIVERY_LOST") pending.fail(error.code);
    else pending.info(String(error));
  }
}

await redis.ping();
process.send("ready");
await once(process, "message");
const stopped = once(process, "message");
const consumer = concurrency > 0 ? queue.consume(handle, { concurrency, backoff: 0 }) : null;
if (count > 0) await produce();
process.send("produced");
await stopped;
await consumer?.stop();
await hf.close();
redis.disconnect();
process.disconnect();
