/** The scripts of lanes by which messages go through: what each returns, and what a second copy of a call does. */
import { beforeAll, beforeEach, expect, test } from "vitest";
import { parseHandle } from "../../src/deliveries/handle.js";
import type { LanesSettings } from "../../src/lanes/settings.js";
import { bodies, handles, LaneLab, type LaneProcess, one } from "./lane-lab.js";

const KEY = "t:{n}:lanes";

let lab: LaneLab;
let a: LaneProcess;

beforeAll(async () => {
  lab = await LaneLab.start();
});

beforeEach(() => {
  lab.command("FLUSHALL");
  a = open("a");
});

let opened = 0;

function open(id: string, settings: Partial<LanesSettings> = {}): LaneProcess {
  opened += 1;
  return lab.open(`${id}${opened}`, "n", settings);
}

const record = (lane: string): string => String(lab.command("HGET", `${KEY}:rec`, lane));

test("each lane is in order, one of it is out at a time, and the lanes have their turns", async () => {
  const [first = 0, other = 0, second = 0] = await a.push(["x", "j1"], ["y", "j2"], ["x", "j3"]);
  expect(second).toBe(first + 1);
  expect(other).toBeGreaterThan(first);
  const given = await a.take(5);
  expect(bodies(given)).toEqual(["j1", "j2"]);
  expect(given.map(({ handle }) => parseHandle(handle)?.lane)).toEqual(["x", "y"]);
  expect(await a.take(5)).toEqual([]);
  const more = await a.take(5, handles(given));
  expect(bodies(more)).toEqual(["j3"]);
  expect(await a.ack(...handles(more))).toEqual([]);
  expect(lab.keys()).toEqual([KEY]);
});

test("ten thousand waiting in one lane do not keep a hundred small lanes waiting", async () => {
  for (let sent = 0; sent < 10_000; sent += 500)
    await a.push(...Array.from({ length: 500 }, () => ["big", "j0"] as const));
  for (let round = 0; round < 10; round++)
    await a.push(...Array.from({ length: 100 }, (_, lane) => [`small-${lane}`, "j1"] as const));
  let [small, deliveries] = [0, 0];
  let acks: string[] = [];
  while (small < 1_000) {
    const given = await a.take(10, acks);
    deliveries += given.length;
    small += given.filter(({ body }) => body === "j1").length;
    acks = handles(given);
  }
  expect(deliveries).toBeLessThanOrEqual(1_020);
});

test("a lane that comes back counts on from its last number, also where `last` or the records were lost", async () => {
  const [first = 0] = await a.push(["x", "j1"]);
  await a.ack((await one(a)).handle);
  expect(lab.command("EXISTS", `${KEY}:rec`)).toBe(0);
  const [second = 0] = await a.push(["x", "j2"]);
  expect(second).toBeGreaterThan(first);
  lab.command("HDEL", KEY, "last");
  await a.ack((await one(a)).handle);
  lab.pass(1);
  const [third = 0] = await a.push(["x", "j3"]);
  expect(third).toBeGreaterThan(second);
  lab.command("DEL", `${KEY}:rec`, `${KEY}:ready`);
  const [fourth = 0] = await a.push(["x", "j4"]);
  expect(fourth).toBeGreaterThan(third + 1);
  expect(bodies([await one(a)])).toEqual(["j3"]);
});

test("a clock that is set back makes no number and no token smaller, and no lease endless", async () => {
  const [first = 0] = await a.push(["x", "j1"]);
  const { handle } = await one(a);
  lab.valkey.clock.step(-3_600_000);
  const [second = 0, other = 0] = await a.push(["x", "j2"], ["y", "j3"]);
  expect(second).toBe(first + 1);
  expect(other).toBeGreaterThan(first);
  const given = await one(a);
  expect(Number(parseHandle(given.handle)?.token)).toBeGreaterThan(Number(parseHandle(handle)?.token));
  lab.pass(3_100);
  expect((await a.scripts.look(0)).returned).toBe(2);
  lab.valkey.clock.step(3_600_000);
});

test("hostile names of lanes, long ones and bodies of any text", async () => {
  const lanes = [
    ":",
    "{}",
    "a b",
    " ",
    "a!b",
    "*?[",
    "\0",
    "😀".repeat(128),
    "x".repeat(512),
    "a",
    "a b c",
    "%20",
  ];
  const pushes = lanes.map((lane, place) => [lane, `j"${place}\\n {}"`] as const);
  const numbers = await a.push(...pushes);
  const tickets = lanes.map((lane, place) => ({ lane, number: numbers[place] ?? 0 }));
  expect((await a.scripts.places(tickets)).map(({ ahead }) => ahead)).toEqual(lanes.map(() => 0));
  expect((await a.control.list(null)).lanes.map(({ lane }) => lane).sort()).toEqual([...lanes].sort());
  expect(await a.scripts.cancel(tickets[2] as (typeof tickets)[0])).toBe(true);
  const given = await a.take(lanes.length - 1);
  expect(given.map(({ handle }) => parseHandle(handle)?.lane)).toEqual(
    lanes.filter((lane) => lane !== "a b"),
  );
  expect(bodies(given)).toEqual(pushes.filter(([lane]) => lane !== "a b").map(([, body]) => body));
  for (const { handle } of given) expect(await a.back(handle)).toEqual([]);
  expect((await a.take(lanes.length - 1)).length).toBe(lanes.length - 1);
});

test("a copy of a push adds nothing, a late copy changes nothing, and each answers as it should", async () => {
  const push = (seq: number) => a.scripts.push(seq, [{ lane: "x", body: `j${seq}` }]);
  const answers = await Promise.all([push(1), push(2), push(1), push(2)]);
  expect(answers.slice(2)).toEqual(answers.slice(0, 2));
  expect(lab.command("LLEN", `${KEY}:lane:x`)).toBe(2);
  for (let seq = 3; seq < 20; seq++) await push(seq);
  await expect(push(1)).rejects.toThrow("came too late");
  expect(lab.command("LLEN", `${KEY}:lane:x`)).toBe(19);
});

test("by a take a process can tell older gifts from newer ones", async () => {
  const tokenOf = (place: number): number => Number.parseInt(a.gifts[place]?.handle ?? "", 10);
  await a.take(1);
  await a.push(["x", "j1"]);
  a.seq += 1;
  const { newestToken } = await a.scripts.take({ seq: a.seq, acks: [], want: 1 });
  await a.push(["y", "j2"]);
  expect([tokenOf(0) <= newestToken, newestToken < tokenOf(1)]).toEqual([true, true]);
});

test("a copy of a take settles and takes nothing; a copy of a back returns nothing", async () => {
  await a.push(["x", "j1"], ["x", "j2"], ["y", "j3"]);
  const { given } = await a.scripts.take({ seq: 1, acks: [], want: 1 });
  expect(await a.scripts.take({ seq: 1, acks: [], want: 1 })).toMatchObject({ late: [], given: [] });
  const acks = [...given, { handle: "1:2:1:z:q" }];
  const next = await a.scripts.take({ seq: 2, acks, want: 2 });
  expect(next.late).toEqual(["1:2:1:z:q"]);
  expect(bodies(next.given)).toEqual(["j3", "j2"]);
  expect(await a.scripts.take({ seq: 2, acks, want: 2 })).toMatchObject({ late: ["1:2:1:z:q"], given: [] });
  const returns = next.given.map(({ handle }) => ({ handle, delayMs: 0, isAttempt: true }));
  expect(await a.scripts.back(3, returns)).toEqual([]);
  expect(await a.scripts.back(3, returns)).toEqual([]);
  expect(await a.scripts.back(4, returns)).toEqual(handles(next.given));
  expect((await a.control.state()).waiting).toBe(2);
});

test("park: the lane waits for its returned message and the delay, others go on", async () => {
  await a.push(["x", "j1"], ["x", "j2"], ["y", "j3"]);
  const { handle } = await one(a);
  await a.back(handle, { delayMs: 500 });
  expect(bodies(await a.take(5))).toEqual(["j3"]);
  expect(await a.control.state()).toMatchObject({ parked: 1, waiting: 2, inFlight: 1 });
  const [place] = await a.scripts.places([
    { lane: "x", number: Number(parseHandle(handle)?.id.split("@")[0]) },
  ]);
  expect(place).toMatchObject({ state: "waiting", position: 1, ahead: 0, parkedMs: 500 });
  lab.pass(499);
  expect(await a.scripts.look(0)).toMatchObject({ returned: 0, dueInMs: 1 });
  lab.pass(1);
  await a.scripts.look(0);
  // It was idle, so the message came as a gift.
  expect(bodies(a.gifts.flatMap((gift) => gift ?? []))).toEqual(["j1"]);
  expect(parseHandle(a.gifts[0]?.handle ?? "")?.attempt).toBe(2);
});

test("a process that is idle is told of a nearer time, when a lane is parked by another one", async () => {
  const b = open("b");
  await a.push(["x", "j1"], ["x", "j2"]);
  const { handle } = await one(a);
  expect(await b.scripts.take({ seq: 1, acks: [], want: 1 })).toMatchObject({ given: [], dueInMs: 3_001 });
  await a.back(handle, { delayMs: 50 });
  expect(b.gifts).toEqual([null]);
  expect(await b.scripts.take({ seq: 2, acks: [], want: 1 })).toMatchObject({ given: [], dueInMs: 50 });
});

test("skip: the lane goes on, and the message comes back after its delay before what was never delivered", async () => {
  const b = open("b", { whenFailed: "skip" });
  await b.push(["x", "j1"], ["x", "j2"], ["x", "j3"]);
  const first = await one(b);
  await b.back(first.handle, { delayMs: 500 });
  const second = await one(b);
  expect(second.body).toBe("j2");
  expect(await b.control.state()).toMatchObject({ delayed: 1, waiting: 1, parked: 0 });
  lab.pass(500);
  expect(bodies([await one(b, second.handle)])).toEqual(["j1"]);
});

test("dead-letter: the first failure is the last, a lost process is not", async () => {
  const b = open("b", { whenFailed: "dead-letter" });
  await b.push(["x", "j1"], ["x", "j2"]);
  const first = await one(b);
  await b.back(first.handle, { delayMs: 500, reason: "broken" });
  expect(await b.operations.dead(10)).toEqual([
    {
      id: parseHandle(first.handle)?.id,
      body: "j1",
      attempts: 1,
      reason: "broken",
      atMs: expect.any(Number),
    },
  ]);
  expect((await one(b)).body).toBe("j2");
  lab.pass(3_100);
  expect((await b.scripts.look(0)).returned).toBe(1);
  expect((await one(b)).body).toBe("j2");
});

test("after its last attempt a message is a dead letter, and the lane goes on; not handed over is no attempt", async () => {
  const b = open("b", { maxAttempts: 2, keepDead: 2 });
  await b.push(...["j1", "j2", "j3", "j4"].map((body) => ["x", body] as const));
  await b.back((await one(b)).handle, { isAttempt: false });
  for (const body of ["j1", "j1", "j2", "j2", "j3", "j3"]) {
    const given = await one(b);
    expect(given.body).toBe(body);
    await b.back(given.handle, { reason: `the reason of ${body}` });
  }
  // Two are kept, the newest.
  expect(bodies(await b.operations.dead(10)).sort()).toEqual(["j2", "j3"]);
  expect((await one(b)).body).toBe("j4");
});

test("redrive puts dead letters back at their numbers, before what waits; those that die meanwhile stay dead", async () => {
  const b = open("b", { whenFailed: "dead-letter" });
  const numbers = await b.push(...["j1", "j2", "j3"].map((body) => ["x", body] as const), ["y", "j9"]);
  for (let count = 0; count < 2; count++) await b.back((await one(b)).handle);
  for (let count = 0; count < 2; count++) {
    const [given] = await b.take(1);
    if (given) await b.back(given.handle);
  }
  expect((await b.control.state()).dead).toBe(4);
  lab.pass(1);
  expect(await b.operations.redrive([`${numbers[1]}@x`, "1@z", `${numbers[1]}@x`])).toBe(1);
  expect(lab.command("EXISTS", b.scripts.calls.outcomeKey(`${numbers[1]}@x`))).toBe(0);
  expect(await b.operations.redrive(null)).toBe(3);
  expect(await b.operations.redrive(null)).toBe(0);
  expect(bodies(await b.control.peek("x", 10))).toEqual(["j1", "j2", "j3"]);
  const order: string[] = [];
  let acks: string[] = [];
  for (let count = 0; count < 4; count++) {
    const given = await one(b, ...acks);
    order.push(given.body);
    acks = [given.handle];
  }
  expect(order.filter((body) => body !== "j9")).toEqual(["j1", "j2", "j3"]);
});

test("a rate holds for each lane, also where the lane was empty in between, and nobody polls for it", async () => {
  const b = open("b", { rate: { max: 2, perMs: 1_000 } });
  await b.push(...["j1", "j2", "j3"].map((body) => ["x", body] as const));
  const first = await one(b);
  const second = await one(b, first.handle);
  const taken = await b.scripts.take({ seq: 100, acks: [second], want: 3 });
  expect(taken).toMatchObject({ given: [], dueInMs: 500 });
  expect((await b.control.states(["x"]))[0]).toMatchObject({ waiting: 1, parkedMs: 500 });
  lab.pass(500);
  await b.scripts.look(0);
  expect(bodies(b.gifts.flatMap((gift) => gift ?? []))).toEqual(["j3"]);
  await b.ack(b.gifts[0]?.handle ?? "");
  expect(record("x"), "its rate is remembered").not.toBe("null");
  await b.push(["x", "j4"]);
  expect(await b.take(1)).toEqual([]);
  lab.pass(500);
  await b.scripts.look(0);
  expect(b.gifts.length).toBe(2);
  await b.ack(b.gifts[1]?.handle ?? "");
  lab.pass(1_000);
  await b.scripts.look(0);
  expect(lab.command("EXISTS", `${KEY}:rec`)).toBe(0);
});

test("a clock that is set back lengthens no wait for a rate, also where `last` was lost; neither does a rate that was slower", async () => {
  const b = open("b", { rate: { max: 2, perMs: 1_000 } });
  for (const isLost of [false, true]) {
    lab.command("FLUSHALL");
    await b.push(["x", "j0"]);
    await b.ack((await one(b)).handle);
    lab.valkey.clock.step(-3_600_000);
    if (isLost) lab.command("HDEL", KEY, "last", "skew");
    await b.push(["x", "j1"]);
    expect(bodies(await b.take(1)), `lost: ${isLost}`).toEqual(["j1"]);
    lab.valkey.clock.step(3_600_000);
  }
  lab.command("FLUSHALL");
  const slow = open("s", { rate: { max: 1, perMs: 3_600_000 } });
  await slow.push(["x", "j0"]);
  await slow.ack((await one(slow)).handle);
  await b.push(["x", "j1"]);
  expect(bodies(await b.take(1))).toEqual(["j1"]);
});

test("refuse: a full lane says so, and others take theirs; all or none where it is asked", async () => {
  const b = open("b", { maxLength: 2 });
  await b.push(["x", "j1"]);
  await one(b);
  const both = [
    { lane: "x", body: "j2" },
    { lane: "y", body: "j3" },
    { lane: "x", body: "j4" },
  ];
  const whole = await b.scripts.push(50, both);
  expect(whole.pushed).toEqual([
    { number: null, length: 1, isTooLarge: false, isForeign: false },
    { number: null, length: null, isTooLarge: false, isForeign: false },
    { number: null, length: 1, isTooLarge: false, isForeign: false },
  ]);
  expect((await b.control.state()).waiting).toBe(0);
  const each = await b.scripts.push(51, both, false);
  expect(each.pushed.map(({ number }) => number === null)).toEqual([false, false, true]);
  expect(each.pushed[2]?.length).toBe(2);
  expect(await b.scripts.push(51, both, false)).toEqual(each);
});

test("an extended delivery stays, one that is not comes back; leave tells what a process has", async () => {
  await a.push(["x", "j1"], ["y", "j2"]);
  const given = await a.take(3);
  const [first = "", second = ""] = handles(given);
  expect(await a.scripts.parcels.extend([first, "1:2:3:b:z"], 10_000)).toEqual(["1:2:3:b:z"]);
  expect([...(await a.scripts.parcels.leave())].sort((x, y) => (x.handle < y.handle ? -1 : 1))).toEqual(
    given,
  );
  expect((await a.control.state()).idle).toBe(0);
  lab.pass(3_100);
  expect((await a.scripts.look(0)).returned).toBe(1);
  expect(await a.ack(first, second)).toEqual([second]);
});

test("the mean time between two deliveries is of one busy time, and a pause is no part of it", async () => {
  await a.push(...Array.from({ length: 5 }, () => ["x", "j1"] as const));
  let { handle } = await one(a);
  const number = Number(parseHandle(handle)?.id.split("@")[0]) + 4;
  const place = async () => (await a.scripts.places([{ lane: "x", number }]))[0];
  expect(await place()).toMatchObject({ meanGapMs: null, sinceMs: 0, position: 4, ahead: 4 });
  lab.pass(80);
  ({ handle } = await one(a, handle));
  expect(await place()).toMatchObject({ meanGapMs: 80, sinceMs: 0, position: 3, ahead: 3 });
  lab.pass(160);
  ({ handle } = await one(a, handle));
  expect((await place())?.meanGapMs).toBe(90);
  await a.control.pause("x");
  expect((await place())?.parkedMs).toBe(null);
  lab.pass(2_000);
  await a.control.resume("x");
  ({ handle } = await one(a, handle));
  expect((await place())?.meanGapMs).toBe(90);
});
