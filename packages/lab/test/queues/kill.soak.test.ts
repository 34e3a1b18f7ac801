/** Processes that are killed with SIGKILL while they push and consume: no message is lost, and each comes again with a larger token only. */
import { needing, program as programOf, ServerProcess } from "@holdfast/conformance";
import { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { handedOf, Messages } from "../../src/history/messages.js";
import { checkQueue } from "../../src/history/queue-rules.js";
import { Crew, type Member, type Task } from "./crew.js";

const program = programOf("redis-server");
const isSoak = process.env.HOLDFAST_TEST_SOAK === "1";
const MESSAGES = isSoak ? 100_000 : 5_000;
const KILLS = isSoak ? 32 : 5;
const CONSUMERS = isSoak ? 6 : 2;
const BETWEEN_KILLS_MS = isSoak ? 300 : 150;
/** Of the kills: a producer begins again with all its messages. */
const PRODUCER_EVERY = isSoak ? 16 : 5;
const DEADLINE_MS = 2_000;
const SETTLE_MS = isSoak ? 120_000 : 30_000;

const consuming: Omit<Task, "url"> = {
  ...{ from: 0, count: 0, batch: 0, paceMs: 0, deadlineMs: DEADLINE_MS },
  ...{ concurrency: 16, failShare: 0.01 },
};
const producing: Omit<Task, "url"> = {
  ...consuming,
  concurrency: 0,
  count: MESSAGES / 2,
  batch: 50,
  paceMs: 20,
};

let server: ServerProcess;
let crew: Crew;

beforeAll(async () => {
  crew = new Crew();
  if (program !== "") server = await ServerProcess.start({ program });
});

afterAll(async () => {
  crew.remove();
  await server?.stop();
});

const pause = (forMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, forMs));

/** Kills one consumer after the other, and producers too; another process takes over each time. */
async function disturb(consumers: Member[], producers: Member[]): Promise<void> {
  for (let kills = 0; kills < KILLS; kills++) {
    await pause(BETWEEN_KILLS_MS);
    const isProducer = kills % PRODUCER_EVERY === PRODUCER_EVERY - 1;
    const members = isProducer ? producers : consumers;
    const victim = members.shift();
    if (!victim) continue;
    await crew.kill(victim);
    // The numbers of a new one are its own, so what the dead one had begun stays in doubt.
    const task = isProducer ? { ...victim.task, from: victim.task.from + MESSAGES } : victim.task;
    members.push(await crew.start(task));
  }
}

needing(describe, "redis-server")("processes that are killed", () => {
  it(`${MESSAGES} messages, ${KILLS} kills: none is lost, and none is done twice`, async () => {
    const url = `redis://${server.host}:${server.port}`;
    const consumers = await Promise.all(
      Array.from({ length: CONSUMERS }, () => crew.start({ ...consuming, url })),
    );
    const producers = await Promise.all([
      crew.start({ ...producing, url }),
      crew.start({ ...producing, url }),
    ]);
    await disturb(consumers, producers);
    await Promise.all(producers.map(({ produced }) => produced));
    const redis = new Redis(url);
    const hf = new Holdfast(redis);
    const queue = hf.queue("jobs");
    const empty = { waiting: 0, delayed: 0, inFlight: 0, returned: 0 };
    await expect.poll(() => queue.state(), { timeout: SETTLE_MS, interval: 50 }).toMatchObject(empty);
    await crew.stop();
    const operations = crew.operations();
    const endMs = Number(process.hrtime.bigint()) / 1e6;
    const never = (): boolean => false;
    const found = checkQueue(operations, {
      ...{ endMs, order: null, maxAttempts: 1_000, wasLost: never, wasClockSet: never },
      dueMs: (readyMs) => readyMs + SETTLE_MS,
    });
    expect(found.map(({ property, message }) => `${property}: ${message}`)).toEqual([]);
    const messages = new Messages(operations);
    expect(messages.known.size).toBeGreaterThanOrEqual(MESSAGES);
    const again = messages.each("deliver").filter((delivery) => handedOf(delivery).attempt > 1);
    expect(again.length).toBeGreaterThan(0);
    expect(await redis.keys("*")).toEqual(["holdfast:{jobs}:queue"]);
    await hf.close();
    redis.disconnect();
  });
});
