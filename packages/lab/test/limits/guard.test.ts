/** The guard in virtual time: escalation and decay, clocks that disagree, and a random crowd beside a plain model. */

import type { Guard, GuardOptions, GuardVerdict } from "holdfast";
import { describe, expect, it } from "vitest";
import { holdfastOn } from "../../src/sim/holdfast-on.js";
import type { Link } from "../../src/sim/link.js";
import type { Process } from "../../src/sim/process.js";
import { World } from "../../src/sim/world.js";

const MINUTE = 60_000;
const LADDER: GuardOptions = {
  hits: 2,
  per: "10s",
  decay: "10m",
  penalties: [
    { kind: "postpone", for: "5s" },
    { kind: "busy", for: "15s" },
    { kind: "refuse", for: "2m" },
  ],
};

interface Scene {
  readonly process: Process;
  readonly guard: Guard;
  readonly link: Link;
  readonly world: World;
}

async function play(
  options: GuardOptions,
  work: (scene: Scene, other: Scene) => Promise<void>,
  clocks: { readonly rate?: number; readonly wallOffsetMs?: number } = {},
): Promise<void> {
  const world = await World.create({ seed: 11 });
  const node = world.node("redis");
  const scenes: Scene[] = [];
  let done = false;
  const start = (name: string) => {
    const process = world.process(name, name === "one" ? clocks : {});
    const link = world.link(process, node);
    process.run(async () => {
      scenes.push({ process, link, world, guard: holdfastOn(link).guard("g", options) });
      if (scenes.length < 2) return;
      await work(scenes[0] as Scene, scenes[1] as Scene);
      done = true;
      world.stop();
    });
  };
  start("one");
  start("two");
  await world.run(24 * 60 * MINUTE);
  expect(world.errors).toEqual([]);
  expect(done).toBe(true);
}

/** Hits until it is struck. */
async function goOver(guard: Guard, hits = 3): Promise<GuardVerdict> {
  let verdict = await guard.hit("s", "/");
  for (let hit = 1; hit < hits; hit += 1) verdict = await guard.hit("s", "/");
  return verdict;
}

describe("a guard", () => {
  it("goes up the ladder with each strike, stays on the last step, and forgets after a calm", () =>
    play(LADDER, async ({ guard, process }) => {
      const steps: unknown[] = [];
      for (let strike = 1; strike <= 4; strike += 1) {
        const { ok, penalty, strikes, retryAfterMs } = await goOver(guard);
        steps.push([ok, penalty?.kind, strikes, retryAfterMs]);
        await process.sleep((retryAfterMs as number) - 20);
        expect(await guard.hit("s", "/other")).toMatchObject({ ok: false, strikes });
        await process.sleep(20);
        expect(await guard.look("s", "/")).toMatchObject({ ok: true, strikes, remaining: 2 });
      }
      expect(steps).toEqual([
        [false, "postpone", 1, 5_000],
        [false, "busy", 2, 15_000],
        [false, "refuse", 3, 120_000],
        [false, "refuse", 4, 120_000],
      ]);
      await process.sleep(10 * MINUTE - 100);
      expect(await guard.look("s", "/")).toMatchObject({ ok: true, strikes: 4 });
      await process.sleep(100);
      expect(await guard.look("s", "/")).toMatchObject({ ok: true, strikes: 0 });
      expect(await goOver(guard)).toMatchObject({ strikes: 1, penalty: { kind: "postpone" } });
    }));

  it("keeps strikes for a decay after each penalty, not after the first", () =>
    play(LADDER, async ({ guard, process }) => {
      for (let strike = 1; strike <= 3; strike += 1) {
        expect((await goOver(guard)).strikes).toBe(strike);
        await process.sleep(9 * MINUTE);
      }
      await process.sleep(3 * MINUTE + 1);
      expect((await guard.look("s")).strikes).toBe(0);
    }));

  it("counts from the first hit, and begins anew when that is long enough ago", () =>
    play(LADDER, async ({ guard, process }) => {
      await guard.hit("s", "/");
      await process.sleep(9_900);
      expect(await guard.hit("s", "/")).toMatchObject({ ok: true, remaining: 0 });
      await process.sleep(200);
      expect(await guard.hit("s", "/")).toMatchObject({ ok: true, remaining: 1 });
    }));

  it("lets a penalty that is prolonged last as long as it is hammered, and no longer", () =>
    play(
      { ...LADDER, penalties: [{ kind: "busy", for: "5s", prolong: true }] },
      async ({ guard, process }) => {
        await goOver(guard);
        for (let hit = 0; hit < 10; hit += 1) {
          await process.sleep(4_000);
          expect(await guard.hit("s", "/")).toMatchObject({ ok: false, strikes: 1, retryAfterMs: 5_000 });
        }
        await process.sleep(5_001);
        expect(await guard.hit("s", "/")).toMatchObject({ ok: true, strikes: 1 });
      },
    ));

  it("a pardon elsewhere is seen here when the penalty would have ended, at the latest", () =>
    play(LADDER, async ({ guard, process }, there) => {
      await goOver(guard);
      await there.guard.pardon("s");
      expect(await there.guard.hit("s", "/")).toMatchObject({ ok: true, strikes: 0, remaining: 1 });
      expect(await guard.hit("s", "/")).toMatchObject({ ok: false, source: "cache" });
      await process.sleep(5_000);
      expect(await guard.hit("s", "/")).toMatchObject({ ok: true, source: "redis", remaining: 0 });
    }));

  it("what a pardon or a penalty cleared stays cleared, however soon strikes are forgotten", () =>
    play({ ...LADDER, per: "1h", decay: 0 }, async ({ guard, process }) => {
      for (const route of ["/", "/other"]) await guard.hit("s", route);
      await guard.pardon("s");
      await process.sleep(60_000);
      expect(await guard.hit("s", "/other")).toMatchObject({ ok: true, remaining: 1 });
      for (let hit = 0; hit < 3; hit += 1) await guard.hit("s", "/");
      await process.sleep(60_000);
      expect(await guard.hit("s", "/other")).toMatchObject({ ok: true, strikes: 0, remaining: 1 });
    }));

  for (const rate of [0.995, 1, 1.005])
    it(`never bars longer than the penalty, with a clock at ${rate} and an hour off`, () =>
      play(
        LADDER,
        async ({ guard, process, world }) => {
          await goOver(guard);
          const sinceMs = world.nowMs;
          await process.sleep(4_500);
          expect((await guard.hit("s", "/")).ok).toBe(false);
          while (world.nowMs - sinceMs < 5_000) await process.sleep(7);
          expect((await guard.hit("s", "/")).ok).toBe(true);
        },
        { rate, wallOffsetMs: 60 * MINUTE },
      ));

  it("asks again at once where its own clock was set ahead, rather than bar too long", () =>
    play(LADDER, async ({ guard, process }) => {
      await goOver(guard);
      process.stepWall(10_000);
      expect(await guard.hit("s", "/")).toMatchObject({ ok: false, source: "redis" });
    }));
});

/** Longer than a client takes to connect again: the answer to what it has sent before may be that of a copy. */
const CONNECT_MS = 100;

describe("when the server's clock is set back by an hour", () => {
  it("a penalty lasts no longer than it is long, and hits go on to be counted", async () => {
    const world = await World.create({ seed: 5 });
    const node = world.node("redis");
    const process = world.process("one");
    const seen: unknown[] = [];
    process.run(async () => {
      const guard = holdfastOn(world.link(process, node)).guard("g", { ...LADDER, cache: false });
      await goOver(guard);
      await guard.hit("free", "/");
      node.promote(node.remember(), -60 * MINUTE);
      await process.sleep(CONNECT_MS);
      seen.push(await guard.hit("s", "/"));
      await process.sleep(5_001);
      seen.push(await guard.hit("s", "/"), await goOver(guard));
      await guard.hit("free", "/");
      seen.push(await guard.hit("free", "/"));
      // A count that began ahead of the clock begins anew no later than any other.
      await guard.hit("ahead", "/");
      node.promote(node.remember(), -120 * MINUTE);
      await process.sleep(CONNECT_MS);
      await guard.hit("ahead", "/");
      await process.sleep(10_001);
      seen.push(await guard.hit("ahead", "/"));
    });
    await world.run(MINUTE);
    expect(world.errors).toEqual([]);
    expect(seen).toMatchObject([
      { ok: false, retryAfterMs: 5_000 },
      { ok: true, remaining: 1 },
      { ok: false, strikes: 2, penalty: { kind: "busy" } },
      { ok: false, strikes: 1 },
      { ok: true, remaining: 1 },
    ]);
  });
});

/** What is promised, in plain code on one clock. */
class Model {
  readonly #subjects = new Map<string, { strikes: number; endsMs: number; counts: Map<string, number[]> }>();

  hit(subject: string, route: string, nowMs: number): { ok: boolean; strikes: number; remaining: number } {
    const known = this.#subjects.get(subject) ?? { strikes: 0, endsMs: 0, counts: new Map() };
    this.#subjects.set(subject, known);
    if (nowMs < known.endsMs) return { ok: false, strikes: known.strikes, remaining: 0 };
    if (nowMs >= known.endsMs + 10 * MINUTE) known.strikes = 0;
    const [count = 0, start = nowMs] = known.counts.get(route) ?? [];
    const [hits, since] = nowMs >= start + 10_000 ? [1, nowMs] : [count + 1, start];
    known.counts.set(route, [hits, since]);
    if (hits <= 2) return { ok: true, strikes: known.strikes, remaining: 2 - hits };
    known.strikes += 1;
    known.endsMs = nowMs + ([5_000, 15_000, 120_000][Math.min(known.strikes, 3) - 1] as number);
    known.counts.clear();
    return { ok: false, strikes: known.strikes, remaining: 0 };
  }
}

it("a random crowd has what the model says, hit for hit, and no key is without an end", async () => {
  for (const seed of [1, 2]) {
    const world = await World.create({ seed });
    const node = world.node("redis");
    const process = world.process("one", { rate: 1 });
    const model = new Model();
    const wrong: unknown[] = [];
    let [hits, struck] = [0, 0];
    process.run(async () => {
      // Without the cache each hit has the server's answer, at a moment of the server's clock that is known.
      const guard = holdfastOn(world.link(process, node)).guard("g", { ...LADDER, cache: false });
      for (;;) {
        const dice = process.dice;
        const pauseMs = dice.chance(0.02) ? dice.between(1_000, 9 * MINUTE) : dice.between(5, 600);
        await process.sleep(pauseMs);
        const [subject, route] = [`s${dice.whole(0, 2)}`, `/${dice.whole(0, 1)}`];
        const { ok, strikes, remaining } = await guard.hit(subject, route);
        const time = node.peek("TIME") as string[];
        const nowMs = Number(time[0]) * 1_000 + Number(time[1]) / 1_000;
        const expected = model.hit(subject, route, nowMs);
        if (ok !== expected.ok || strikes !== expected.strikes || remaining !== expected.remaining)
          wrong.push({ subject, route, nowMs, seen: { ok, strikes, remaining }, expected });
        hits += 1;
        if (!ok) struck += 1;
        for (const each of node.peek("KEYS", "*") as string[])
          if (node.peek("PTTL", each) === -1) wrong.push({ each, end: "none" });
      }
    });
    await world.run(45 * MINUTE);
    expect({ seed, errors: world.errors, wrong }).toEqual({ seed, errors: [], wrong: [] });
    expect(hits).toBeGreaterThan(200);
    expect(struck).toBeGreaterThan(20);
  }
});
