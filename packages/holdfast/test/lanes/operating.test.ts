/** The scripts of lanes for operators, and what all scripts do where a key is not theirs or the server has no memory. */
import { beforeAll, beforeEach, expect, test } from "vitest";
import { bodies, handles, LaneLab, type LaneProcess, one } from "./lane-lab.js";

const KEY = "t:{n}:lanes";

let lab: LaneLab;
let a: LaneProcess;
let opened = 0;

beforeAll(async () => {
  lab = await LaneLab.start();
});

beforeEach(() => {
  lab.command("FLUSHALL");
  opened += 1;
  a = lab.open(`a${opened}`, "n");
});

test("pause and resume, of one lane and of all; a raised limit deals at once", async () => {
  await a.control.pause(null);
  expect((await a.scripts.take({ seq: 90, acks: [], want: 4 })).given).toEqual([]);
  await a.push(["x", "j1"], ["x", "j2"], ["x", "j3"], ["y", "j4"]);
  expect(a.gifts).toEqual([]);
  await a.control.pause("y");
  await a.control.resume(null);
  const gifts = (): string[] => bodies(a.gifts.flatMap((gift) => gift ?? []));
  expect(gifts()).toEqual(["j1"]);
  await a.control.limit("x", 3);
  expect(gifts()).toEqual(["j1", "j2", "j3"]);
  expect((await a.control.states(["x", "y", "z"])).map(({ limit, isPaused }) => [limit, isPaused])).toEqual([
    [3, false],
    [null, true],
    [null, false],
  ]);
  expect(await a.control.state()).toMatchObject({ paused: 1, idle: 1 });
  await a.control.resume("y");
  expect(gifts()).toEqual(["j1", "j2", "j3", "j4"]);
  await a.ack(...a.gifts.flatMap((gift) => gift?.handle ?? []));
  expect(lab.command("HGET", `${KEY}:rec`, "x"), "a limit of its own is kept").toMatch(/ 3 0 0 0 0$/);
  await a.control.limit("x", null);
  expect(lab.keys()).toEqual([KEY]);
});

const lost = [
  ":ready",
  ":later",
  ":away",
  ":off",
  ":rec",
  ":again",
  ":cancelled",
  ":lane:lane-3",
  ":held",
  "",
];

test.each(lost)(
  "lanes go on and vanish by the looks of processes after %s was evicted alone",
  async (part) => {
    a = lab.open(`s${opened}`, "n", { whenFailed: opened % 2 === 0 ? "skip" : "park" });
    const lanes = Array.from({ length: 20 }, (_, lane) => `lane-${lane}`);
    await a.push(
      ...lanes.map((lane) => [lane, "j1"] as const),
      ...lanes.map((lane) => [lane, "j2"] as const),
    );
    const given = await a.take(12);
    for (const { handle } of given.slice(0, 5)) await a.back(handle, { delayMs: 10 });
    lab.command("DEL", `${KEY}${part}`);
    lab.pass(6_000);
    const seen: string[] = [];
    let acks: string[] = [];
    for (let turn = 0; turn < 200; turn++) {
      lab.pass(1_000);
      await a.scripts.look(0);
      const more = [...a.gifts.splice(0).flatMap((gift) => gift ?? []), ...(await a.take(40, acks))];
      seen.push(...bodies(more));
      acks = handles(more);
    }
    const least = part.startsWith(":lane:") ? 19 : 20;
    expect(seen.filter((body) => body === "j2").length, `${seen.length}`).toBeGreaterThanOrEqual(least);
    expect(await a.control.state()).toMatchObject({ lanes: 0, inFlight: 0, parked: 0 });
  },
);

test("a thousand cancelled ones at the head are passed over, and their bodies go", async () => {
  const numbers: number[] = [];
  for (let sent = 0; sent < 6_000; sent += 500)
    numbers.push(
      ...(await a.push(...Array.from({ length: 500 }, (_, place) => ["x", `j${sent + place}`] as const))),
    );
  for (const number of numbers.slice(0, 5_000)) await a.scripts.cancel({ lane: "x", number });
  expect(await a.control.state()).toMatchObject({ waiting: 1_000 });
  const last = { lane: "x", number: numbers[5_999] ?? 0 };
  expect((await a.scripts.places([last]))[0]).toMatchObject({ position: 1_000, ahead: 999 });
  let [given, calls] = [await a.scripts.take({ seq: 900, acks: [], want: 2 }), 1];
  while (given.given.length === 0) {
    expect(given.dueInMs, "it asks again at once").toBe(0);
    given = await a.scripts.take({ seq: 900 + calls, acks: [], want: 2 });
    calls += 1;
  }
  expect(bodies(given.given)).toEqual(["j5000"]);
  expect(calls).toBeLessThan(5);
  expect(lab.command("LLEN", `${KEY}:lane:x`)).toBe(999);
  expect(lab.command("EXISTS", `${KEY}:cancelled`)).toBe(0);
});

test("drain deletes what waits of one lane or of all, and leaves what is in flight", async () => {
  await a.push(...Array.from({ length: 450 }, (_, lane) => [`lane-${lane}`, "j1"] as const), [
    "lane-0",
    "j2",
  ]);
  const { handle } = await one(a);
  expect(await a.control.drain("lane-0")).toBe(1);
  expect(await a.control.drain(null)).toBe(449);
  expect(await a.control.state()).toMatchObject({ waiting: 0, inFlight: 1, lanes: 1 });
  expect(await a.ack(handle)).toEqual([]);
  expect(lab.keys()).toEqual([KEY]);
});

test("drain takes thousands of cancelled ones, and of those that came back, in steps", async () => {
  const b = lab.open("b", "n", { inFlight: 1_000, maxAttempts: 9 });
  const numbers: number[] = [];
  for (let sent = 0; sent < 3_000; sent += 500)
    numbers.push(...(await b.push(...Array.from({ length: 500 }, () => ["x", "j1"] as const))));
  for (const number of numbers.slice(400, 2_600)) await b.scripts.cancel({ lane: "x", number });
  const returned = [...(await b.take(200)), ...(await b.take(200))];
  for (const { handle } of returned) await b.back(handle);
  expect(await b.control.drain("x")).toBe(800);
  expect(lab.keys().filter((key) => !key.includes(":result:"))).toEqual([KEY]);
});

test("the numbers of a drained lane are never given again, however quickly it filled", async () => {
  const many = Array.from({ length: 500 }, () => ["x", "j1"] as const);
  const before = await a.push(...many);
  expect(await a.control.drain("x")).toBe(500);
  expect(lab.keys()).toEqual([KEY]);
  const [next = 0] = await a.push(["x", "j2"]);
  expect(next).toBeGreaterThan(before.at(-1) ?? 0);
});

test("reset deletes tens of thousands of lanes, and deliveries of before are late", async () => {
  for (let sent = 0; sent < 20_000; sent += 500)
    await a.push(...Array.from({ length: 500 }, (_, lane) => [`lane-${sent + lane}`, "j1"] as const));
  const { handle } = await one(a);
  await a.control.reset();
  // Numbers of a quick machine run ahead of the clock, and then the largest one stays.
  expect(lab.keys().filter((left) => left !== KEY)).toEqual([]);
  expect(await a.ack(handle)).toEqual([handle]);
});

test("a reset gives no number twice: the lane with the largest one has run ahead of the clock", async () => {
  await a.push(["x", "j1"], ["y", "j2"]);
  const record = String(lab.command("HGET", `${KEY}:rec`, "x"));
  const hours = String(Number(record.slice(0, 16)) + 3_600_000_000);
  lab.command("HSET", `${KEY}:rec`, "x", hours + record.slice(16));
  const [before = 0] = await a.push(["x", "j3"]);
  await a.control.reset();
  expect([lab.keys(), lab.command("HGETALL", KEY)]).toEqual([[KEY], ["last", String(before)]]);
  const [next = 0] = await a.push(["x", "j4"]);
  expect(next).toBeGreaterThan(before);
});

test("the list of lanes comes in pages, each of a bounded size", async () => {
  for (let sent = 0; sent < 2_000; sent += 500)
    await a.push(...Array.from({ length: 500 }, (_, lane) => [`lane-${sent + lane}`, "j1"] as const));
  const names = new Set<string>();
  let [cursor, pages] = [null as string | null, 0];
  do {
    const page = await a.control.list(cursor, 100);
    expect(page.lanes.length).toBeLessThan(400);
    for (const { lane } of page.lanes) names.add(lane);
    cursor = page.cursor;
    pages += 1;
  } while (cursor !== null);
  expect([names.size, pages > 5]).toEqual([2_000, true]);
});

const scripts: Record<string, (process: LaneProcess) => Promise<unknown>> = {
  push: (process) => process.push(["x", "j1"]),
  take: (process) => process.take(1),
  back: (process) => process.back("1:2:1:b:x"),
  look: (process) => process.scripts.look(0),
  cancel: (process) => process.scripts.cancel({ lane: "x", number: 1_800_000_000_000_000 }),
  pause: (process) => process.control.pause("x"),
  redrive: (process) => process.operations.redrive(null),
  drain: (process) => process.control.drain("x"),
};
const parts = ["", ":rec", ":ready", ":off", ":away", ":idle", ":later", ":again", ":cancelled", ":dead"];

test.each(Object.keys(scripts))(
  "%s names a key of another program, and changes nothing before",
  async (name) => {
    for (const part of parts) {
      lab.command("FLUSHALL");
      lab.command("SETBIT", `${KEY}${part}`, "7", "1");
      const before = lab.keys();
      try {
        await scripts[name]?.(a);
        if (["", ":rec"].includes(part)) expect.unreachable(`${name} takes ${part} for its own`);
      } catch (error) {
        expect(String(error)).toContain(`${KEY}${part}`);
        expect(lab.keys()).toEqual(before);
      }
    }
  },
);

test("a list of another program stops the push, and what was pushed before it is taken back", async () => {
  lab.command("SET", `${KEY}:lane:y`, "mine");
  await expect(a.push(["x", "j1"], ["x", "j2"], ["y", "j3"])).rejects.toThrow(`${KEY}:lane:y`);
  expect(lab.keys()).toEqual([`${KEY}:lane:y`]);
});

test("a list of another program costs its lane alone", async () => {
  await a.push(["x", "j1"], ["y", "j2"], ["x", "j3"]);
  lab.command("SET", `${KEY}:lane:x`, "mine");
  expect(bodies(await a.take(3))).toEqual(["j2"]);
  const both = ["x", "y"].map((lane) => ({ lane, body: "j4" }));
  const { pushed } = await a.scripts.push(90, both, false);
  expect(pushed).toMatchObject([{ number: null, isForeign: true }, { isForeign: false }]);
  expect(await a.control.state()).toMatchObject({ inFlight: 1 });
});

test("what cannot be read beside the messages is as if it had never been there", async () => {
  for (const field of ["waiting", "looked", "scan", "gone", "stuck", "slow", "skew"])
    lab.command("HSET", KEY, field, "not holdfast's");
  lab.command("SET", `${KEY}:heard`, "not holdfast's");
  await a.push(["x", "j1"], ["y", "j2"]);
  const { handle } = await one(a);
  expect(await a.scripts.parcels.extend([handle], 10_000)).toEqual([]);
  expect(await a.scripts.look(0)).toMatchObject({ returned: 0 });
  expect(bodies(await a.take(1, [handle]))).toEqual(["j2"]);
});

test("a delivery of which nobody could be told does not count for the rate", async () => {
  const b = lab.open("b", "n", { rate: { max: 1, perMs: 10_000 } });
  expect(await b.take(1)).toEqual([]);
  lab.command("ACL", "SETUSER", "default", "resetchannels");
  try {
    await b.push(["x", "j1"]);
  } finally {
    lab.command("ACL", "SETUSER", "default", "allchannels");
  }
  expect(bodies(await b.take(1))).toEqual(["j1"]);
});

test("a server without memory refuses pushes and nothing else, and no count is wrong", async () => {
  await a.push(["x", "j1"], ["x", "j2"], ["y", "j3"]);
  const { handle } = await one(a);
  lab.command("CONFIG", "SET", "maxmemory", "1");
  await expect(a.push(["x", "j4"])).rejects.toThrow(/OOM/);
  const next = await a.take(2, [handle]);
  lab.command("CONFIG", "SET", "maxmemory", "0");
  expect(bodies(next)).toEqual(["j3", "j2"]);
  expect(await a.control.state()).toMatchObject({ waiting: 0, inFlight: 2 });
  expect(await a.ack(...handles(next))).toEqual([]);
  expect(lab.keys()).toEqual([KEY]);
});

test("a server without memory lets deliveries be extended, looks go on, and places be free", async () => {
  await a.push(["x", "j1"]);
  const { handle } = await one(a);
  lab.command("CONFIG", "SET", "maxmemory", "1");
  try {
    expect(await a.scripts.parcels.extend([handle], 10_000)).toEqual([]);
    expect(Number(lab.command("ZSCORE", `${KEY}:away`, handle)) % 1).toBe(0);
    expect(await a.scripts.look(0)).toMatchObject({ returned: 0, dueInMs: 10_000 });
    expect(await a.take(2)).toEqual([]);
  } finally {
    lab.command("CONFIG", "SET", "maxmemory", "0");
  }
});

test("a look at a place has few commands, however many wait and are cancelled", async () => {
  const numbers: number[] = [];
  for (let sent = 0; sent < 20_000; sent += 500)
    numbers.push(...(await a.push(...Array.from({ length: 500 }, () => ["x", "j1"] as const))));
  for (let place = 0; place < 20_000; place += 10)
    await a.scripts.cancel({ lane: "x", number: numbers[place] ?? 0 });
  lab.command("CONFIG", "RESETSTAT");
  const tickets = Array.from({ length: 250 }, (_, place) => ({
    lane: "x",
    number: numbers[place * 80 + 1] ?? 0,
  }));
  const places = await a.scripts.places(tickets);
  expect(places.map(({ ahead }) => ahead)).toEqual(tickets.map((_, place) => place * 72));
  const counted = String(lab.command("INFO", "commandstats")).matchAll(/cmdstat_(\w+):calls=(\d+)/g);
  const calls = Object.fromEntries([...counted].map(([, command, count]) => [command, Number(count)]));
  expect(calls).toMatchObject({ hmget: 2, llen: 1, zscore: 250, zlexcount: 250 });
});
