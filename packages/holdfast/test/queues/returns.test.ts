/** The scripts by which messages come back: returns, deadlines, dead processes, delays, dead letters. */
import { expect, test } from "vitest";
import type { QueueOptions } from "../../src/queues/settings.js";
import { readMessage } from "../../src/redis/message.js";
import { gift, heard, keys, name, nextSeq, onEngine, open, type Process, redis } from "./queue-lab.js";

onEngine();

const [ABOUT, LINE, OFF, AWAY, IDLE, LATER, AGAIN, DEAD, LETTERS] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
const key = (place: number): string => keys()[place] as string;
const push = (process: Process, body: string, delayMs: number, id?: string) =>
  process.scripts.push(
    {
      seq: nextSeq(),
      bodies: [body],
      isWhole: false,
      extras: [{ delayMs, dedupe: id ? { id, forMs: 60_000 } : null }],
    },
    1_000,
  );
/** The deadlines, or the delays, are over. */
async function overdue(place: number): Promise<void> {
  for (const member of await redis.zrange(key(place), 0, "-1"))
    await redis.zadd(key(place), "XX", "1", member);
}
test.each([
  ["fifo", ["j1", "j2", "j3", "j4"]],
  ["lifo", ["j4", "j3", "j2", "j1"]],
] as const)("%s: what came back is taken before the rest, in order", async (order, expected) => {
  const one = await open({ order });
  await one.push("j1", "j2", "j3", "j4");
  const [first = "", second = ""] = (await one.take(2)).handles;
  expect([await one.back(second), await one.back(first), await one.back(first)]).toEqual([true, true, false]);
  expect((await one.scripts.peek(9)).map(({ body, attempts }) => [body, attempts])).toEqual(
    expected.map((body, place) => [body, place < 2 ? 1 : 0]),
  );
  const { bodies, handles } = await one.take(4);
  expect([bodies, handles.map((handle) => handle.split(":")[2])]).toEqual([expected, ["2", "2", "1", "1"]]);
});

test("a return that is no attempt keeps the number of the attempt", async () => {
  const one = await open();
  await one.push("j1");
  for (let round = 0; round < 8; round += 1) {
    const [handle = ""] = (await one.take(1)).handles;
    expect(handle.split(":")[2]).toBe("1");
    await one.back(handle, { isAttempt: false });
  }
});

test("a return hands the message to whoever stands idle", async () => {
  const [one, two] = [await open(), await open()];
  await one.push("j1");
  const [handle = ""] = (await one.take(1)).handles;
  await two.take(1);
  await one.back(handle);
  expect(gift((await heard(two))[0])).toMatchObject({
    body: "j1",
    handle: expect.stringContaining(`:2:${two.id}`),
  });
});

test("after its last attempt a message is a dead letter with its reason, and its outcome is told", async () => {
  const one = await open({ maxAttempts: 2, keepDead: 2 });
  const heardOf: string[] = [];
  const listener = redis.duplicate();
  listener.on("message", (_, message: string) => heardOf.push(readMessage(message)?.text ?? ""));
  const ids = await one.push("j1", "j2", "j3");
  await listener.subscribe(one.scripts.calls.outcomeKey(ids[0] as string));
  for (let round = 0; round < 6; round += 1) {
    const [handle = ""] = (await one.take(1)).handles;
    await one.back(handle, { reason: `boom\n${round}` });
  }
  const letters = await one.operations.dead(9);
  expect(letters.map(({ id, body, attempts, reason }) => [id, body, attempts, reason])).toEqual([
    [ids[2], "j3", 2, "boom\n5"],
    [ids[1], "j2", 2, "boom\n3"],
  ]);
  expect(Math.abs(Date.now() - (letters[0]?.atMs ?? 0))).toBeLessThan(60_000);
  expect(await one.scripts.result(ids[0] as string)).toBe("dead 2 boom\n1");
  expect([heardOf, await redis.hlen(key(LETTERS)), await redis.exists(key(OFF))]).toEqual([["dead"], 4, 0]);
  expect(await redis.zcard(key(DEAD))).toBe(2);
  expect(await one.operations.redrive([ids[1] as string, "1", ids[1] as string])).toBe(1);
  expect([await one.scripts.result(ids[1] as string), await one.operations.redrive(null)]).toEqual([null, 1]);
  const { handles, bodies } = await one.take(9);
  expect([bodies, handles.map((handle) => handle.split(":")[2])]).toEqual([
    ["j2", "j3"],
    ["1", "1"],
  ]);
  expect(await redis.exists(key(DEAD), key(LETTERS))).toBe(0);
  listener.disconnect();
});

test("a result is stored and told by the ack that removed the delivery, and by no other", async () => {
  const one = await open();
  const ids = await one.push("j1", "j2");
  const { handles } = await one.take(2);
  const [first = "", second = ""] = handles;
  await one.back(first);
  expect((await one.take(0, [first, "jwrong"], [second, "jright and more"])).late).toEqual([first]);
  expect(await one.scripts.result(ids[0] as string)).toBeNull();
  expect(await one.scripts.result(ids[1] as string)).toBe(`done ${second.split(":")[0]} jright and more`);
  expect(await redis.pttl(one.scripts.calls.outcomeKey(ids[1] as string))).toBeGreaterThan(3_500_000);
});

test("an ack after the deadline is accepted as long as nobody has looked", async () => {
  const one = await open();
  await one.push("j1");
  const [handle = ""] = (await one.take(1)).handles;
  await overdue(AWAY);
  expect((await one.take(1, handle)).late).toEqual([]);
  expect(await redis.exists(keys().slice(1))).toBe(1);
});

test("deliveries that are overdue come back in order, also in a look, and end as dead letters", async () => {
  const [one, two] = [await open({ maxAttempts: 2 }), await open({ maxAttempts: 2 })];
  const ids = await one.push("j1", "j2");
  await one.take(2);
  await two.take(2);
  await overdue(AWAY);
  expect(await one.scripts.look(0)).toMatchObject({ returned: 2, free: 0 });
  expect((await heard(two)).map((text) => gift(text).body)).toEqual(["j1", "j2"]);
  await overdue(AWAY);
  expect(await one.scripts.look(0)).toEqual({ returned: 2, dueInMs: null, free: 0 });
  expect(await one.scripts.result(ids[0] as string)).toBe("dead 2 its deadline passed");
});

test("a take that puts back more than it wants deals the rest to others", async () => {
  const [one, two, three] = [await open(), await open(), await open()];
  await one.push("j1", "j2", "j3");
  await one.take(3);
  await two.take(5);
  await overdue(AWAY);
  expect((await three.take(1)).bodies).toEqual(["j1"]);
  expect((await heard(two)).map((text) => gift(text).body)).toEqual(["j2", "j3"]);
});

test("a redrive hands over to whoever stands idle", async () => {
  const [one, two] = [await open({ maxAttempts: 1 }), await open()];
  await one.push("j1");
  await one.back((await one.take(1)).handles[0] as string);
  await two.take(1);
  expect(await one.operations.redrive(null)).toBe(1);
  expect(gift((await heard(two))[0]).body).toBe("j1");
});

test("extend moves the deadlines, and names what is over", async () => {
  const one = await open();
  await one.push("j1", "j2");
  const { handles } = await one.take(2);
  await one.take(0, handles[0] as string);
  expect(await one.scripts.parcels.extend([...handles, "1:1:1:p"], 30_000)).toEqual([handles[0], "1:1:1:p"]);
  const { dueInMs } = await one.scripts.look(0);
  expect(dueInMs).toBeGreaterThan(29_000);
  expect(await redis.zscore(key(AWAY), handles[1] as string)).toMatch(/^\d+$/);
});

test("leave ends the free places, and returns the deliveries of this process only", async () => {
  const [one, two] = [await open(), await open()];
  await one.push("j1", "j2");
  const { handles } = await one.take(1);
  await two.take(1);
  await one.take(3);
  await one.push("jgift b");
  const left = await one.scripts.parcels.leave();
  expect(left.map(({ body }) => body)).toEqual(["j1", "jgift b"]);
  expect(left[0]?.handle).toBe(handles[0]);
  expect(await redis.exists(key(IDLE))).toBe(0);
  expect(await one.scripts.parcels.leave()).toEqual(left);
});

test("a delayed message is delivered when it is due, after those that waited", async () => {
  const one = await open();
  await push(one, "jlate", 60_000);
  await push(one, "jlater", 120_000);
  await one.push("j1");
  const { bodies, dueInMs } = await one.take(1);
  expect([bodies, (dueInMs ?? 0) <= 3_000]).toEqual([["j1"], true]);
  await one.push("j2");
  await redis.zadd(key(LATER), "XX", "1", (await redis.zrange(key(LATER), 0, "0"))[0] as string);
  expect((await one.take(9)).bodies).toEqual(["j2", "jlate"]);
  const { dueInMs: next } = await one.scripts.look(0);
  expect(next).toBeLessThanOrEqual(3_000);
  await redis.zremrangebyscore(key(AWAY), "-inf", "+inf");
  expect((await one.scripts.look(0)).dueInMs).toBeGreaterThan(119_000);
});

test("a delayed push that is due before the others tells one who is idle", async () => {
  const one = await open();
  await push(one, "j1", 60_000);
  expect((await one.take(1)).dueInMs).toBeGreaterThan(59_000);
  await push(one, "j2", 120_000);
  expect(await heard(one)).toEqual([]);
  await push(one, "j3", 30_000);
  expect(await heard(one)).toEqual([`queue ${encodeURIComponent(name)}`]);
  expect((await one.take(1)).dueInMs).toBeLessThanOrEqual(30_000);
});

test("a return with a delay comes back before the line, when it is due", async () => {
  const one = await open();
  await one.push("j1", "j2");
  const [handle = ""] = (await one.take(1)).handles;
  await one.back(handle, { delayMs: 5_000 });
  await overdue(LATER);
  expect((await one.take(2)).bodies).toEqual(["j1", "j2"]);
});

test("a paused queue gives nothing, also what comes back, and deals when it goes on", async () => {
  const one = await open();
  await one.push("j0");
  const [handle = ""] = (await one.take(1)).handles;
  expect([await one.scripts.pause(), await one.scripts.pause()]).toEqual([true, false]);
  await one.push("j1");
  await one.back(handle);
  expect((await one.take(3)).bodies).toEqual([]);
  await push(one, "j2", 1_000);
  await overdue(LATER);
  expect((await one.scripts.look(0)).free).toBe(3);
  expect(await heard(one)).toEqual([`queue ${encodeURIComponent(name)}`]);
  expect([await one.scripts.resume(), await one.scripts.resume()]).toEqual([true, false]);
  expect((await heard(one)).map((text) => gift(text).body)).toEqual(["j0", "j1", "j2"]);
});

test("dedupe: the number of the first, within one script too, until its time is over", async () => {
  const one = await open();
  const request = (seq: number, ...ids: (string | null)[]) => ({
    seq,
    bodies: ids.map((id) => `j${id}`),
    isWhole: false,
    extras: ids.map((id) => ({ delayMs: 0, dedupe: id === null ? null : { id, forMs: 60_000 } })),
  });
  const { pushed } = await one.scripts.push(request(1, "a", null, "b c", "a"), 1_000);
  expect(pushed.map(({ isNew }) => isNew)).toEqual([true, true, true, false]);
  expect(pushed[3]?.id).toBe(pushed[0]?.id);
  const again = await one.scripts.push(request(2, "b c", "d"), 1_000);
  expect(again.pushed).toEqual([
    { id: pushed[2]?.id, isNew: false },
    { id: expect.anything(), isNew: true },
  ]);
  expect(await one.scripts.push(request(2, "b c", "d"), 1_000)).toEqual(again);
  expect((await one.scripts.peek(9)).map(({ body }) => body)).toEqual(["ja", "jnull", "jb c", "jd"]);
});

test("maxLength: some are refused, all or none where they belong together", async () => {
  const one = await open({ maxLength: 4 });
  await one.push("j1");
  await push(one, "j2", 60_000);
  await one.take(1);
  const request = { seq: 90, bodies: ["j3", "j4", "j5"], extras: null };
  const whole = await one.scripts.push({ ...request, isWhole: true }, 1_000);
  expect(whole).toEqual({ pushed: [], length: 2, dropped: 0 });
  const some = await one.scripts.push({ ...request, seq: 91, isWhole: false }, 1_000);
  expect(some).toMatchObject({ pushed: [{ isNew: true }, { isNew: true }], length: 4, dropped: 0 });
  expect(await one.scripts.push({ ...request, seq: 91, isWhole: false }, 1_000)).toEqual(some);
});

test("drop-oldest: what waits goes, the oldest first; what is in flight stays", async () => {
  const one = await open({ maxLength: 4, whenFull: "drop-oldest" });
  await one.push("j1", "j2", "j3", "j4");
  const { handles } = await one.take(2);
  await one.back(handles[1] as string);
  const dropped = async (...bodies: string[]) =>
    one.scripts.push({ seq: nextSeq(), bodies, isWhole: true, extras: null }, 1_000);
  expect(await dropped("j5", "j6")).toMatchObject({ dropped: 2, length: 4 });
  expect((await one.scripts.peek(9)).map(({ body }) => body)).toEqual(["j4", "j5", "j6"]);
  expect(await dropped("j7", "j8", "j9", "j10")).toEqual({ pushed: [], dropped: 0, length: 4 });
  await push(one, "j11", 60_000);
  expect(await dropped("j12", "j13", "j14")).toMatchObject({ dropped: 3, length: 4 });
  expect((await one.scripts.peek(9)).map(({ body }) => body)).toEqual(["j12", "j13", "j14"]);
  expect(await redis.hlen(key(OFF))).toBe(1);
});

/** What each body became, and what is there then: as single calls, and as one turn of calls. */
async function filled(isTogether: boolean, bound: QueueOptions): Promise<unknown> {
  const one = await open({ maxLength: 4, ...bound });
  const pushes = ["a", "b", "-", "c*", "a", "-", "d*", "e", "b", "f", "-", "g", "h"].map((word, place) => ({
    body: `j${place}${word}`,
    extras: {
      delayMs: word.endsWith("*") ? 60_000 : 0,
      dedupe: word === "-" ? null : { id: word, forMs: 60_000 },
    },
  }));
  await one.push("j1", "j2", "j3", "j4");
  const { handles } = await one.take(3);
  for (const handle of handles.slice(1)) await one.back(handle);
  const outcomes: unknown[] = [];
  let dropped = 0;
  for (const some of isTogether ? [pushes] : pushes.map((push) => [push])) {
    const answer = await one.scripts.push(
      {
        seq: nextSeq(),
        bodies: some.map(({ body }) => body),
        extras: some.map(({ extras }) => extras),
        isWhole: false,
      },
      1_000,
    );
    outcomes.push(...some.map((_, place) => answer.pushed[place]?.isNew));
    dropped += answer.dropped;
  }
  const bodies = async (there: Promise<readonly { body: string }[]>) => (await there).map(({ body }) => body);
  const [waits, later] = [await bodies(one.scripts.peek(20)), await bodies(one.operations.delayed(20))];
  await one.scripts.reset();
  await redis.flushall();
  return { outcomes, dropped, waits, later };
}

test.each(["refuse", "drop-oldest"] as const)(
  "%s: a turn of pushes does what its single calls do",
  async (whenFull) => {
    const single = await filled(false, { whenFull });
    expect(await filled(true, { whenFull })).toEqual(single);
  },
);

test("drop-oldest: a queue beyond its bound loses nothing by a push that is refused, or is not new", async () => {
  const one = await open({ maxLength: 2, whenFull: "drop-oldest", maxAttempts: 1 });
  const dedupe = [{ delayMs: 0, dedupe: { id: "k", forMs: 60_000 } }];
  const push = async (isWhole: boolean, ...bodies: string[]) =>
    one.scripts.push({ seq: nextSeq(), bodies, extras: bodies.length === 1 ? dedupe : null, isWhole }, 1_000);
  const [first] = (await push(false, "j1")).pushed;
  for (const body of ["j2", "j3"]) await one.push(body);
  for (const handle of (await one.take(2)).handles) await one.back(handle);
  await one.push("j4", "j5");
  expect(await one.operations.redrive(null)).toBe(2);
  const before = await one.scripts.peek(9);
  expect(before).toHaveLength(4);
  for (const isWhole of [false, true])
    expect((await push(isWhole, "j1")).pushed).toEqual([{ id: first?.id, isNew: false }]);
  expect(await push(true, "j6", "j7", "j8")).toMatchObject({ pushed: [], dropped: 0 });
  expect(await one.scripts.peek(9)).toEqual(before);
});

test("drain deletes what waits, and reset all", async () => {
  const one = await open();
  await one.push("j1", "j2", "j3");
  await push(one, "j4", 60_000);
  const { handles } = await one.take(2);
  await one.back(handles[0] as string);
  expect([await one.scripts.drain(), await one.scripts.drain()]).toEqual([3, 0]);
  expect((await one.take(5, handles[1] as string)).late).toEqual([]);
  expect([await one.scripts.reset(), await one.scripts.reset()]).toEqual([true, false]);
  expect(await heard(one)).toEqual([`queue ${encodeURIComponent(name)}`]);
  expect(await redis.exists(keys())).toBe(0);
});

test("every key of another program is named, and nothing is changed before", async () => {
  const one = await open({ maxAttempts: 1 });
  await one.take(1);
  await one.push("j0");
  await heard(one);
  const calls = (handle: string): (() => Promise<unknown>)[] => [
    () => one.push("j1"),
    () => push(one, "j1", 1_000),
    () => one.take(1, [handle, "jresult"]),
    () => one.back(handle),
    () => one.scripts.look(0),
    () => one.scripts.parcels.leave(),
    () => one.scripts.parcels.extend([handle], 30_000),
    () => one.scripts.peek(3),
    () => one.scripts.drain(),
    () => one.operations.dead(3),
    () => one.operations.redrive(null),
    () => one.scripts.pause(),
  ];
  const handle = (await one.scripts.parcels.leave())[0]?.handle ?? "";
  await one.push("j2", "j3");
  await one.take(0);
  const dump = async () => Promise.all(keys().map((each) => redis.dumpBuffer(each)));
  for (const place of [ABOUT, LINE, OFF, AWAY, IDLE, LATER, AGAIN, DEAD, LETTERS]) {
    const kind = await redis.type(key(place));
    if (kind !== "none") await redis.rename(key(place), "kept");
    await redis.set(key(place), "of another program");
    for (const call of calls(handle)) {
      const before = await dump();
      const error = await call().then(
        () => null,
        (reason: Error) => reason.message,
      );
      if (error !== null) {
        expect(error).toContain(`WRONGTYPE another program owns the key ${key(place)}`);
        expect(await dump()).toEqual(before);
      }
    }
    if (place < DEAD) expect(await one.take(1).catch(() => null)).toBeNull();
    await redis.del(key(place));
    if (kind !== "none") await redis.rename("kept", key(place));
  }
});
