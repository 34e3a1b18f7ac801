/** Events, latches and barriers, as the inspector shows them. */
import { expect, test } from "vitest";
import { newProcess, onEngine, redis, untilListening } from "./place.js";

onEngine();

async function all<State>(states: AsyncIterable<State>): Promise<State[]> {
  const found: State[] = [];
  for await (const state of states) found.push(state);
  return found;
}

test("an event is shown with its versions and with the processes that listen", async () => {
  const [a, b] = [newProcess(), newProcess()];
  const inspector = await b.inspector();
  expect(await inspector.event("door")).toEqual({
    ...{ name: "door", isSet: false, version: 0n, lastSet: 0n, listening: 0 },
  });
  const { version } = await a.event("door").set("x");
  const wait = a.event("door").wait({ after: version });
  await untilListening("holdfast:{door}:event");
  const shown = { name: "door", isSet: true, version, lastSet: version, listening: 1 };
  expect(await inspector.event("door")).toEqual(shown);
  expect(await all(inspector.events())).toEqual([shown]);
  expect(await all(inspector.events({ pattern: "b*" }))).toEqual([]);
  await a.event("door").set();
  await wait;
  await a.event("door").delete();
  expect(await all(inspector.events())).toEqual([]);
});

test("a latch is shown with the parties that have counted, and looking does not prolong its life", async () => {
  const hf = newProcess();
  const inspector = await hf.inspector();
  expect(await inspector.latch("start")).toMatchObject({ size: null, count: null });
  await hf.latch("start", 5).countDown({ by: "b" });
  await hf.latch("start", 5).countDown({ by: "a", n: 2 });
  await redis.pexpire("holdfast:{start}:latch", 5_000);
  expect(await inspector.latch("start")).toMatchObject({ size: 5, count: 2, counted: ["a", "b"] });
  expect(await all(inspector.latches())).toHaveLength(1);
  expect(await redis.pttl("holdfast:{start}:latch")).toBeLessThanOrEqual(5_000);
});

test("a barrier is shown with the parties that wait", async () => {
  const hf = newProcess({ label: "worker 7" });
  const inspector = await newProcess().inspector();
  expect(await inspector.barrier("step")).toMatchObject({ parties: null, arrived: 0, waiting: [] });
  const wait = hf.barrier("step", 2, { ttl: "5s" }).wait();
  while ((await inspector.barrier("step")).arrived === 0);
  const [shown] = await all(inspector.barriers());
  expect(shown).toMatchObject({
    ...{ name: "step", parties: 2, arrived: 1 },
    waiting: [{ process: { pid: process.pid, label: "worker 7" }, ttlMs: 5_000 }],
  });
  expect(shown?.waiting[0]?.remainingMs).toBeGreaterThan(0);
  await hf.barrier("step", 2).wait();
  await wait;
});

test("a key of another program is left out of a list, and named where it is asked for", async () => {
  const inspector = await newProcess().inspector();
  for (const noun of ["event", "latch", "barrier"]) await redis.set(`holdfast:{mine}:${noun}`, "x");
  for (const list of [inspector.events(), inspector.latches(), inspector.barriers()])
    expect(await all<unknown>(list)).toEqual([]);
  await expect(inspector.event("mine")).rejects.toThrow(/WRONGTYPE a key of the event 'mine'/);
  await expect(inspector.latch("mine")).rejects.toThrow(/WRONGTYPE a key of the latch 'mine'/);
  await expect(inspector.barrier("mine")).rejects.toThrow(/WRONGTYPE a key of the barrier 'mine'/);
});
