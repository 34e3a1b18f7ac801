/** The scripts with which a queue is filled and emptied: what each returns, and what a second copy of a call does. */
import { describe, expect, test } from "vitest";
import { gift, heard, keys, name, nextSeq, onEngine, open, type Process, redis } from "./queue-lab.js";

onEngine();

const [ABOUT, LINE, OFF, AWAY, IDLE] = [0, 1, 2, 3, 4];
const key = (place: number): string => keys()[place] as string;

test("messages are taken in the order of their pushes, and acknowledged once", async () => {
  const one = await open();
  const ids = await one.push("ja", "jb b", "jc");
  expect(ids).toEqual([...ids].sort());
  const { handles, bodies, dueInMs } = await one.take(2);
  expect([bodies, dueInMs]).toEqual([["ja", "jb b"], 3_000]);
  expect(handles.map((handle) => handle.split(":")[1])).toEqual(ids.slice(0, 2));
  const [first = "", second = ""] = handles;
  expect(second > first && first > (ids[2] ?? "")).toBe(true);
  expect((await one.take(0, first)).late).toEqual([]);
  expect((await one.take(0, first, second)).late).toEqual([first]);
  expect([await redis.exists(key(OFF), key(AWAY)), await redis.llen(key(LINE))]).toEqual([0, 2]);
});

test("a push hands over to the process with most room, a body with blanks too", async () => {
  const [one, two] = [await open(), await open()];
  await one.take(1);
  await two.take(3);
  const ids = [
    ...(await one.push("ja b  c")),
    ...(await one.push("j2")),
    ...(await one.push("j3")),
    ...(await one.push("j4")),
  ];
  const gifts = [...(await heard(two)), ...(await heard(one))].map(gift);
  expect(gifts.map(({ body }) => body).sort()).toEqual(["j2", "j3", "j4", "ja b  c"]);
  expect(gifts[0]?.body).toBe("ja b  c");
  expect(gifts.map(({ handle }) => handle.split(":")[1]).sort()).toEqual(ids);
  expect([await redis.exists(key(IDLE), key(LINE)), await redis.hlen(key(OFF))]).toEqual([0, 4]);
  const late = await one.take(0, ...gifts.map(({ handle }) => handle));
  expect([late.late, await redis.exists(keys().slice(1))]).toEqual([[], 0]);
});

test("by a take a process can tell older gifts from newer ones, also where `last` was lost, and from a copy", async () => {
  const one = await open();
  const tokenOf = async (): Promise<number> => Number.parseInt(gift((await heard(one)).at(-1)).handle, 10);
  const take = (seq: number) => one.scripts.take({ seq, acks: [], want: 1 });
  await one.take(1);
  for (const isLost of [false, true]) {
    await one.push("j1");
    const older = await tokenOf();
    if (isLost) await redis.hdel(key(ABOUT), "last");
    const seq = nextSeq();
    const answers = [await take(seq), await take(seq)];
    await one.push("j2");
    const newer = await tokenOf();
    for (const { newestToken } of answers)
      expect([older <= newestToken, newestToken < newer]).toEqual([true, true]);
    await one.take(1);
  }
});

test("a process that does not listen is passed over, and leaves", async () => {
  const [one, two, three] = [await open(), await open(), await open()];
  for (const process of [one, two]) {
    await process.take(9);
    await process.deafen();
  }
  await three.take(1);
  await three.push("j1");
  expect((await heard(three)).map((text) => gift(text).body)).toEqual(["j1"]);
  expect([await redis.exists(key(IDLE)), await redis.hlen(key(OFF)), await redis.zcard(key(AWAY))]).toEqual([
    0, 1, 1,
  ]);
  await one.take(2);
  await three.push("j2");
  expect([await redis.exists(key(IDLE)), await redis.llen(key(LINE))]).toEqual([0, 2]);
});

test("where nobody knows who listens, a gift waits for its first lease", async () => {
  const one = await open({}, { listens: false, isSure: false });
  await one.take(1);
  await one.push("j1");
  expect([await redis.exists(key(IDLE)), await redis.hlen(key(OFF))]).toEqual([0, 1]);
});

test("many at once are dealt in order, and the rest waits", async () => {
  const [one, two] = [await open(), await open()];
  await one.take(2);
  await two.take(2);
  await one.push("j1", "j2", "j3", "j4", "j5", "j6");
  expect((await heard(one)).map((text) => gift(text).body)).toHaveLength(2);
  expect((await heard(two)).map((text) => gift(text).body)).toHaveLength(2);
  expect((await one.take(9)).bodies).toEqual(["j5", "j6"]);
  expect(await redis.zrange(key(IDLE), 0, "-1", "WITHSCORES")).toEqual([one.id, "-7"]);
});

test("more than 64 gifts: the others are told to take", async () => {
  const [one, two] = [await open(), await open()];
  await one.take(40);
  await two.take(40);
  await one.push(...Array.from({ length: 200 }, (_, place) => `j${place}`));
  const [first, second] = [await heard(one), await heard(two)];
  const word = `queue ${encodeURIComponent(name)}`;
  expect(first.length + second.length).toBe(66);
  expect([first.at(-1), second.at(-1), await redis.exists(key(IDLE))]).toEqual([word, word, 0]);
  expect((await one.take(200)).bodies).toHaveLength(136);
});

test("a copy of a push or a take has the answer of the first, also after later ones", async () => {
  const one = await open();
  const push = { seq: 1, bodies: ["j1", "j2"], isWhole: true, extras: null };
  const first = await one.scripts.push(push, 1_000);
  for (let seq = 2; seq < 5; seq += 1) await one.scripts.push({ ...push, seq }, 1_000);
  expect(await one.scripts.push(push, 1_000)).toEqual(first);
  await one.scripts.push({ ...push, seq: 5 }, 1_000);
  await expect(one.scripts.push(push, 1_000)).rejects.toThrow("too late");
  expect(await redis.llen(key(LINE))).toBe(20);
  const taken = await one.scripts.take({ seq: 1, acks: [], want: 2 });
  const acks = [...taken.given, { handle: "1:1:1:x", body: "" }];
  const settled = await one.scripts.take({ seq: 2, acks, want: 3 });
  const copy = await one.scripts.take({ seq: 2, acks, want: 3 });
  expect([settled.late, copy.late, copy.given]).toEqual([["1:1:1:x"], ["1:1:1:x"], []]);
  expect(await redis.hlen(key(OFF))).toBe(3);
});

test("the newest first, where the order is lifo; another order is refused", async () => {
  const one = await open({ order: "lifo" });
  await one.push("j1", "j2");
  await one.push("j3");
  expect((await one.take(2)).bodies).toEqual(["j3", "j2"]);
  const other = await open({ order: "fifo" });
  await expect(other.push("j4")).rejects.toThrow('the order "lifo", not "fifo"');
  await expect(other.take(1)).rejects.toMatchObject({ code: "ORDER_MISMATCH", actual: "lifo" });
  expect(await redis.hget(key(ABOUT), "order")).toBe("lifo");
});

describe("a first lease that runs out brings the message back, and its process stands idle no more, whatever gave it", () => {
  const pushed = async (by: Process): Promise<string> => {
    await by.push("j1");
    return (await by.take(1)).handles[0] ?? "";
  };

  test.each<[how: string, give: (dead: Process, other: Process) => Promise<unknown>]>([
    ["a push", async (dead, other) => [await dead.take(3), await other.push("j1")]],
    ["a push of several", async (dead, other) => [await dead.take(3), await other.push("j1", "j2")]],
    [
      "a return",
      async (dead, other) => {
        const handle = await pushed(other);
        await dead.take(3);
        await other.back(handle, { isAttempt: false });
      },
    ],
    [
      "a resume",
      async (dead, other) => {
        await dead.take(3);
        await other.scripts.pause();
        await other.push("j1");
        await other.scripts.resume();
      },
    ],
    [
      "a redrive",
      async (dead, other) => {
        await other.back(await pushed(other));
        await dead.take(3);
        await other.operations.redrive(null);
      },
    ],
  ])("%s", async (_, give) => {
    const [dead, other, third] = [await open(), await open({ maxAttempts: 1 }), await open()];
    await give(dead, other);
    const handles = (await heard(dead)).map((text) => gift(text).handle);
    // Time passes; what tells a first lease stays.
    for (const handle of handles)
      await redis.zadd(key(AWAY), "XX", 1 + (Number(await redis.zscore(key(AWAY), handle)) % 1), handle);
    expect(handles).not.toEqual([]);
    await third.scripts.look(0);
    expect(await redis.zscore(key(IDLE), dead.id)).toBeNull();
    expect((await third.take(3)).handles.map((handle) => handle.split(":")[1])).toEqual(
      handles.map((handle) => handle.split(":")[1]),
    );
  });
});

test("a server without memory refuses pushes, and lets messages be cancelled, deliveries be extended, looks go on, and places be free", async () => {
  const one = await open();
  await one.push("ja");
  const [handle = ""] = (await one.take(1)).handles;
  const [waits = ""] = await one.push("jw");
  await redis.config("SET", "maxmemory", "1");
  try {
    await expect(one.push("jb")).rejects.toThrow(/OOM/);
    expect(await one.scripts.cancel(waits)).toBe(true);
    expect(await one.scripts.parcels.extend([handle], 60_000)).toEqual([]);
    expect((await one.scripts.look(0)).dueInMs).toBeGreaterThan(50_000);
    expect((await one.take(2)).dueInMs).toBeGreaterThan(50_000);
  } finally {
    await redis.config("SET", "maxmemory", "0");
  }
  expect((await one.take(0, handle)).late).toEqual([]);
});
