/** The id of the keys under a prefix: who makes it, how long it counts, and what becomes of it when the data is lost or comes back. */
import { ManualClock } from "@holdfast/conformance";
import { beforeEach, describe, expect, test } from "vitest";
import { type HoldfastError, ServerError, UnavailableError } from "../../src/errors.js";
import { Place } from "../../src/redis/place.js";
import type { RedisPort } from "../../src/redis/port.js";
import { Schedule } from "../../src/time/schedule.js";

interface TestPort {
  trouble: string | null;
  disruptions: number;
}

/** One database, and the processes that use it. */
class Database {
  readonly clock = new ManualClock();
  readonly keys = new Map<string, string>();
  failure: HoldfastError | null = null;
  reads = 0;
  #made = 0;

  process(prefix = "holdfast"): { readonly place: Place; readonly port: TestPort } {
    const port = {
      trouble: null as string | null,
      disruptions: 0,
      script: async (_script: unknown, [key = ""]: readonly string[], [id = ""]: readonly string[]) => {
        this.reads += 1;
        if (this.failure) throw this.failure;
        if (!this.keys.has(key)) this.keys.set(key, id);
        return this.keys.get(key);
      },
    };
    const random = { fraction: () => 0, id: () => `0123456789abcdef-${this.#made++}` };
    const schedule = new Schedule(this.clock);
    const parts = {
      port: port as unknown as RedisPort,
      prefix,
      schedule,
      random,
      callTimeoutMs: 1_000,
    };
    return { place: new Place(parts), port };
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

let database: Database;
beforeEach(() => {
  database = new Database();
});

/** Advances the clock in steps of half a second, so that each reading that is due has its answer. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 500) {
    database.clock.advance(Math.min(left, 500));
    await settled();
  }
}

test("the first who misses it makes it, and all others agree", async () => {
  const [one, two, other] = [database.process(), database.process(), database.process("other")];
  const id = await one.place.id();
  expect(await two.place.id()).toBe(id);
  expect(two.place.isHere(id)).toBe(true);
  expect(await other.place.id()).not.toBe(id);
  expect(other.place.isHere(id)).toBe(false);
});

test("a message without a place is never believed", async () => {
  const { place } = database.process();
  await place.id();
  expect(place.isHere("")).toBe(false);
});

test("who writes once asks for nothing, and tells hints; who goes on names the place", async () => {
  const { place } = database.process();
  expect(place.word).toBe("");
  await settled();
  expect(database.reads).toBe(0);
  expect(place.word).toBe("");
  await settled();
  expect(database.reads).toBe(1);
  expect(place.word).toBe(database.keys.get("holdfast:place"));
});

test("a steady writer always names the place, at one reading in two and a half seconds", async () => {
  const { place } = database.process();
  const id = await place.id();
  for (let n = 0; n < 100; n += 1) {
    await pass(100);
    expect(place.word).toBe(id);
  }
  expect(database.reads).toBeLessThanOrEqual(5);
});

test("what was read more than five seconds ago counts no more", async () => {
  const { place } = database.process();
  const id = await place.id();
  await pass(5_000);
  expect(place.isHere(id)).toBe(false);
  await settled();
  expect(place.isHere(id)).toBe(true);
});

/** What happens to the data, and how a process notices. */
const losses: readonly (readonly [string, (process: { disruptions: number }) => void])[] = [
  ["FLUSHALL", () => database.keys.clear()],
  ["an eviction", () => void database.keys.delete("holdfast:place")],
  [
    "a failover to a replica that lacks it",
    (port) => {
      database.keys.clear();
      port.disruptions += 1;
    },
  ],
  [
    "a restore of older data",
    (port) => {
      database.keys.set("holdfast:place", "id-of-an-older-time");
      port.disruptions += 1;
    },
  ],
];

describe.each(losses)("after %s", (_, lose) => {
  test("all agree within five seconds, and until then a message is a hint or of the place that was [H79]", async () => {
    const [listener, writer] = [database.process(), database.process()];
    const stop = listener.place.listen();
    const before = await writer.place.id();
    await settled();
    expect(listener.place.isHere(before)).toBe(true);
    for (const { port } of [listener, writer]) lose(port);
    await pass(5_000);
    await writer.place.id();
    const after = writer.place.word;
    expect(after).toBe(database.keys.get("holdfast:place"));
    expect(listener.place.isHere(after)).toBe(true);
    expect(listener.place.isHere(before)).toBe(false);
    stop();
    await settled();
    expect(database.clock.pendingTimers).toBe(0);
  });
});

test("for five seconds a listener knows the place that it had, so that no signal of a slower process is lost", async () => {
  const { place } = database.process();
  const before = await place.id();
  database.keys.clear();
  await pass(2_500);
  expect(place.isHere(before)).toBe(true);
  await settled();
  const after = await place.id();
  expect(place.isHere(before)).toBe(false);
  expect([place.wasHere(before), place.wasHere(after), place.wasHere("elsewhere")]).toEqual([
    true,
    false,
    false,
  ]);
  await pass(5_000);
  expect(place.wasHere(before)).toBe(false);
});

test("who meets the message of another place waits for the next reading, at most one in a second", async () => {
  const { place } = database.process();
  const before = await place.id();
  database.keys.clear();
  const next = place.nextId();
  await settled();
  expect(database.reads).toBe(1);
  await pass(1_000);
  expect(await next).toBe(database.keys.get("holdfast:place"));
  expect(await next).not.toBe(before);
  expect(database.reads).toBe(2);
});

test("a broken connection makes it unknown at once", async () => {
  const { place, port } = database.process();
  const id = await place.id();
  port.disruptions += 1;
  expect([place.isHere(id), place.word]).toEqual([false, ""]);
  await settled();
  expect([place.isHere(id), place.word]).toEqual([true, id]);
});

test("while the server is away, the last one counts on", async () => {
  const { place, port } = database.process();
  const id = await place.id();
  database.failure = new UnavailableError("the server is away");
  [port.trouble, port.disruptions] = ["it connects", 1];
  await pass(60_000);
  expect(place.isHere(id)).toBe(true);
  port.trouble = null;
  expect(place.isHere(id)).toBe(false);
});

test("where the id cannot be read, messages are hints, and a caller that needs it gets an error that says why", async () => {
  const { place } = database.process();
  database.failure = new UnavailableError("the server is away");
  expect([place.word, place.word]).toEqual(["", ""]);
  await expect(place.id()).rejects.toMatchObject({ code: "UNAVAILABLE" });
  database.failure = new ServerError("WRONGTYPE Operation against a key");
  await expect(place.id()).rejects.toMatchObject({ message: expect.stringContaining("holdfast:place") });
  database.failure = null;
  database.keys.set("holdfast:place", "of another program");
  await expect(place.id()).rejects.toMatchObject({ serverCode: "WRONGTYPE" });
});
