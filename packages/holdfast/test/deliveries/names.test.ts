/** Names: a name that works has a core, and any other name has only its options and the numbers of its requests. */
import { until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Intake } from "../../src/deliveries/intake.js";
import { Names, type Parts } from "../../src/deliveries/names.js";
import { Holdfast } from "../../src/index.js";
import type { RedisContext } from "../../src/redis/context.js";

const MOST_IDLE = 100;

interface Part extends Parts {
  readonly name: string;
  readonly told: string[];
  isIdle: boolean;
}

let made: Part[];
let handler: (words: readonly string[]) => void;
let names: Names<object, Part>;

beforeEach(() => {
  made = [];
  const context = {
    port: {},
    random: { id: () => "memory" },
    inbox: {
      handle: (_: string, handle: typeof handler) => {
        handler = handle;
      },
      serve() {},
    },
  } as unknown as RedisContext;
  names = new Names(context, {
    verb: "queue",
    make({ name }) {
      const told: string[] = [];
      const part: Part = {
        name,
        told,
        isIdle: true,
        intake: {
          mayRest: () => part.isIdle,
          message: (...words: string[]) => told.push(words.join(" ")),
          close: async () => void told.push("intake closed"),
        } as unknown as Intake,
        producer: { isIdle: true, close: async () => void told.push("producer closed") },
      };
      made.push(part);
      return part;
    },
  });
});

function use(name: string): Part {
  return (names.find(name) ?? names.add(name, {})).core;
}

test("names without work are let go, the oldest first, and keep their numbers; those with work stay", async () => {
  const busy = use("busy");
  busy.isIdle = false;
  const first = use("first");
  const { lasting, settings } = names.find("first") ?? names.add("first", {});
  lasting.pushes.last = 7;
  for (let count = 0; count < MOST_IDLE; count++) use(`name-${count}`);
  expect(use("first")).toBe(first);
  await Promise.resolve();
  expect(use("busy")).toBe(busy);
  const again = use("first");
  expect(again).not.toBe(first);
  expect(names.find("first")).toMatchObject({ lasting: { pushes: { last: 7 } }, settings });
  busy.isIdle = true;
  for (let count = 0; count < 2 * MOST_IDLE; count++) use(`other-${count}`);
  await Promise.resolve();
  expect(names.find("busy")?.working).toBe(null);
});

test("a message for a name without parts is nothing, and one for a name with parts is passed on", async () => {
  const part = use("a b");
  for (const message of [["unknown"], ["a%20b", "handle", "body"], ["%"], []]) handler(message);
  for (let count = 0; count < 2 * MOST_IDLE; count++) use(`name-${count}`);
  await Promise.resolve();
  handler(["a%20b", "handle", "later"]);
  expect(part.told).toEqual(["handle body"]);
});

test("close() ends the parts that there are, and those that are made later end at once", async () => {
  const named = names.add("later", {});
  const part = use("now");
  await names.close();
  expect(part.told).toEqual(["intake closed", "producer closed"]);
  expect(named.core.told).toEqual(["intake closed", "producer closed"]);
  expect(() => names.find("now")).toThrow(expect.objectContaining({ code: "CLOSED" }));
});

let server: EmbeddedValkey;
let client: Redis;
beforeAll(async () => {
  server = await EmbeddedValkey.start();
  client = new Redis(server.url);
});
afterAll(async () => {
  client.disconnect();
  await server.stop();
});

test("a name that was let go works as before, for queues and for lanes", async () => {
  await using holdfast = new Holdfast(client, { callTimeout: "10m" });
  const count = MOST_IDLE + 20;
  const queues = Array.from({ length: count }, (_, at) =>
    holdfast.queue<number>(`q${at}`, { maxAttempts: 2 }),
  );
  const lanes = Array.from({ length: count }, (_, at) =>
    holdfast.lanes<number>(`l${at}`, { whenFailed: "skip" }),
  );
  for (const round of [1, 2, 3]) {
    for (const queue of queues) {
      await queue.push(round);
      const delivery = await queue.receive({ wait: "10m" });
      expect(delivery?.body).toBe(round);
      await delivery?.ack();
    }
    for (const each of lanes) {
      const ticket = await each.push("lane", round);
      const delivery = await each.receive({ wait: "10m" });
      expect(delivery?.body).toBe(round);
      await delivery?.ack(round);
      expect(await each.result(ticket, { wait: "10m" })).toMatchObject({ result: round });
    }
  }
  expect(() => holdfast.queue("q0", { maxAttempts: 3 })).toThrow(/maxAttempts|earlier/);
});

test("a delivery that is settled long after its deadline takes no free place from who waits now", async () => {
  await using holdfast = new Holdfast(client, { callTimeout: "10m" });
  const queue = holdfast.queue("late", { deadline: "1s" });
  await queue.push("first");
  const late = await queue.receive({ wait: "10m" });
  await until("its deadline has passed", () => late?.isLive === false);
  for (let count = 0; count < 2 * MOST_IDLE; count++) await holdfast.queue(`busy${count}`).push(1);
  const again = await queue.receive({ wait: "10m" });
  await again?.ack();
  const waiting = queue.receive({ wait: "10m" });
  const isKnown = async (): Promise<boolean> => (await queue.state()).idle === 1;
  await until("its free place is known", isKnown);
  await expect(late?.ack()).rejects.toMatchObject({ code: "DELIVERY_LOST" });
  expect(await isKnown()).toBe(true);
  await queue.push("second");
  expect((await waiting)?.body).toBe("second");
});
