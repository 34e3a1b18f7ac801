/** A server that loses power under load and starts again: what it may lose by its appendfsync, and what it may not. */
import { needing, program as programOf, until } from "@holdfast/conformance";
import { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { History } from "../../src/history/history.js";
import { checkLost, Messages, type Pushed } from "../../src/history/messages.js";
import { checkQueue } from "../../src/history/queue-rules.js";
import type { Recorder } from "../../src/history/recorder.js";
import { PoweredServer } from "./power.js";

const program = programOf("redis-server");
const isSoak = process.env.HOLDFAST_TEST_SOAK === "1";
const CUTS = isSoak ? 10 : 1;
const BETWEEN_CUTS_MS = isSoak ? 1_500 : 700;
const BETWEEN_CUTS = 60;
const SETTLE_MS = 30_000;
/** Redis syncs once a second, and begins the next one up to a second late. */
const EVERYSEC_MS = 2_000;
const key = "jobs";

const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;
const pause = (forMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, forMs));
const never = (): boolean => false;

let history: History;
let power: PoweredServer;
let redis: Redis;
let hf: Holdfast;

beforeEach(() => {
  history = new History();
});

afterEach(async () => {
  await hf?.close();
  redis?.disconnect();
  await power?.stop();
});

async function open(fsync: "always" | "everysec"): Promise<void> {
  power = await PoweredServer.start({ program, fsync });
  redis = new Redis({ host: power.server.host, port: power.server.port, retryStrategy: () => 20 });
  redis.on("error", () => {});
  hf = new Holdfast(redis, { callTimeout: 3_000 });
}

function queueOf() {
  return hf.queue<string, string>(key, { deadline: 2_000, maxAttempts: 1_000 });
}

async function produce(recorder: Recorder, isOver: () => boolean): Promise<void> {
  for (let count = 0; !isOver(); count++) {
    const bodies = Array.from(
      { length: 1 + (count % 5) },
      (_, place) => `${recorder.process} ${count}.${place}`,
    );
    const sent = (ids: readonly string[] | null): Pushed => ({
      messages: bodies.map((body, place) => ({ body, id: ids?.[place] ?? null, isNew: ids ? true : null })),
    });
    const pending = recorder.begin("push", key, { value: sent(null) });
    try {
      const pushed = await queueOf().pushMany(bodies);
      pending.ok({ value: sent(pushed.map(({ id }) => id)) });
    } catch (error) {
      pending.info(String(error));
    }
    await pause(2);
  }
}

function consume(recorder: Recorder) {
  return queueOf().consume(
    async (delivery) => {
      const { id, body, attempt, token } = delivery;
      recorder.begin("deliver", key, { token, value: { id, body, attempt } }).ok();
      await pause(5);
      const result = `by ${token}`;
      const pending = recorder.begin("ack", key, { token, value: { id, result } });
      try {
        await delivery.ack(result);
        pending.ok();
      } catch (error) {
        const isLost = (error as { code?: string }).code === "DELIVERY_LOST";
        if (isLost) pending.fail("DELIVERY_LOST");
        else pending.info(String(error));
      }
    },
    { concurrency: 8, backoff: 0 },
  );
}

/** The load has gone on for a while, and as many messages are known to be there, on however slow a machine. */
async function pushed(count: number): Promise<void> {
  await pause(BETWEEN_CUTS_MS);
  await until(`${count} messages`, () => new Messages(history.operations).known.size >= count);
}

/** Returns when the power went. */
async function disturb(): Promise<readonly number[]> {
  const cutsMs: number[] = [];
  for (let cuts = 0; cuts < CUTS; cuts++) {
    await pushed((cuts + 1) * BETWEEN_CUTS);
    cutsMs.push(nowMs());
    await power.cut();
  }
  await pushed((CUTS + 1) * BETWEEN_CUTS);
  return cutsMs;
}

async function load(): Promise<readonly number[]> {
  let isOver = false;
  const producers = ["a", "b"].map((name) =>
    produce(history.recorder(`pusher ${name}`, nowMs), () => isOver),
  );
  const consumer = consume(history.recorder("consumer", nowMs));
  const cutsMs = await disturb();
  isOver = true;
  await Promise.all(producers);
  const empty = { waiting: 0, delayed: 0, inFlight: 0, returned: 0 };
  await expect.poll(() => queueOf().state(), { timeout: SETTLE_MS, interval: 50 }).toMatchObject(empty);
  await consumer.stop();
  return cutsMs;
}

needing(
  describe,
  "redis-server",
  "gcc",
)("a server that loses power", () => {
  it("loses nothing that was answered under appendfsync always", { timeout: 120_000 }, async () => {
    await open("always");
    await load();
    const found = checkQueue(history.operations, {
      ...{ endMs: nowMs(), order: null, maxAttempts: 1_000, wasLost: never, wasClockSet: never },
      dueMs: (readyMs) => readyMs + SETTLE_MS,
    });
    expect(found.map(({ property, message }) => `${property}: ${message}`)).toEqual([]);
    expect(new Messages(history.operations).known.size).toBeGreaterThan(100);
  });

  if (isSoak)
    it("loses the pushes of the last two seconds at most under everysec", { timeout: 120_000 }, async () => {
      await open("everysec");
      const cutsMs = await load();
      const messages = new Messages(history.operations);
      const wasLost = (fromMs: number): boolean =>
        cutsMs.some((cutMs) => fromMs > cutMs - EVERYSEC_MS && fromMs < cutMs);
      expect(checkLost("Q1", messages, { endMs: nowMs(), wasLost, wasClockSet: never })).toEqual([]);
      // The emulation is worth something: what was not synced is gone.
      expect(checkLost("Q1", messages, { endMs: nowMs(), wasLost: never, wasClockSet: never })).not.toEqual(
        [],
      );
    });
});
