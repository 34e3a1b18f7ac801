/** The deliveries of processes that ended, in lanes. */
import { beforeAll, beforeEach, expect, test } from "vitest";
import type { Given } from "../../src/deliveries/delivery-scripts.js";
import type { LanesSettings } from "../../src/lanes/settings.js";
import { bodies, handles, LaneLab, type LaneProcess } from "./lane-lab.js";

let lab: LaneLab;
let a: LaneProcess;
let opened = 0;

beforeAll(async () => {
  lab = await LaneLab.start();
});

beforeEach(() => {
  lab.command("FLUSHALL");
  a = open("a");
});

function open(id: string, settings: Partial<LanesSettings> = {}): LaneProcess {
  opened += 1;
  return lab.open(`${id}${opened}`, "n", settings);
}
test("a lane whose first message may have ended its process keeps its order, also with skip", async () => {
  const [c, d] = [open("c", { whenFailed: "skip" }), open("d", { whenFailed: "skip" })];
  await c.push(["x", "j1"], ["y", "j2"], ["x", "j3"], ["y", "j4"]);
  const given = await d.take(2);
  await d.scripts.parcels.extend(handles(given), 30_000);
  d.die();
  await c.scripts.look(0);
  lab.pass(3_100);
  await c.scripts.look(0);
  const first = await c.take(9);
  expect(bodies(first)).toEqual(["j1"]);
  expect(bodies(await c.take(9))).toEqual([]);
  expect(bodies(await c.take(9, handles(first))).sort()).toEqual(["j2", "j3"]);
});

test("a lost process: its messages come back in order after two looks, and no look polls for it", async () => {
  const b = open("b", { inFlight: 2 });
  await a.push(["x", "j1"], ["x", "j2"], ["x", "j3"], ["y", "j4"]);
  const given = await b.take(3);
  expect(bodies(given)).toEqual(["j1", "j4", "j2"]);
  await b.scripts.parcels.extend(handles(given), 30_000);
  b.die();
  await a.take(4);
  expect((await a.scripts.look(0)).returned).toBe(0);
  lab.pass(3_100);
  expect((await a.scripts.look(0)).returned).toBe(3);
  // Any of them may have ended its process, so a process has one at a time.
  const gifts = a.gifts.flatMap((gift) => gift ?? []);
  expect(gifts).toHaveLength(1);
  const rest = [];
  for (let some: readonly Given[] = gifts; some.length > 0; some = await a.take(4, handles(some)))
    rest.push(...bodies(some));
  expect([...rest].sort()).toEqual(["j1", "j2", "j3", "j4"]);
  expect(rest.indexOf("j2")).toBeGreaterThan(rest.indexOf("j1"));
});
