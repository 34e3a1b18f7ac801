/** Clocks, timers behind one timer, rounds and durations, on a clock that the test moves. */
import { ManualClock } from "@holdfast/conformance";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BatchTimer } from "../src/time/batch-timer.js";
import { type Clock, elapsedMs, systemClock } from "../src/time/clock.js";
import { durationMs } from "../src/time/duration.js";
import { systemRandom } from "../src/time/random.js";
import { Heap, type HeapItem, Schedule } from "../src/time/schedule.js";

describe("elapsed time", () => {
  test("is the larger of the monotonic and the wall difference", () => {
    const clock = new ManualClock();
    const since = clock.now();
    clock.advance(100);
    clock.stepWall(-10_000);
    expect(elapsedMs(clock, since)).toBe(100);
    clock.stepWall(70_000);
    expect(elapsedMs(clock, since)).toBe(60_100);
  });
});

describe("the system clock", () => {
  test("a timer longer than Node can hold does not fire at once, and can be cancelled [H15]", async () => {
    let fired = false;
    const cancel = systemClock.setTimer(() => {
      fired = true;
    }, 2 ** 31);
    await new Promise((resolve) => systemClock.setTimer(() => resolve(null), 5));
    expect(fired).toBe(false);
    cancel();
  });
});

describe("heap", () => {
  test("gives back in order whatever was added and removed", () => {
    const step = fc.record({ dueMs: fc.integer({ min: 0, max: 50 }), removes: fc.boolean(), pick: fc.nat() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const heap = new Heap<HeapItem>();
        const inside: HeapItem[] = [];
        for (const { dueMs, removes, pick } of steps) {
          if (removes && inside.length > 0) {
            const [gone] = inside.splice(pick % inside.length, 1);
            heap.remove(gone as HeapItem);
          } else {
            const item = { dueMs, place: -1 };
            inside.push(item);
            heap.add(item);
          }
          expect(heap.first?.dueMs).toBe(
            inside.length ? Math.min(...inside.map((item) => item.dueMs)) : undefined,
          );
        }
        const drained: number[] = [];
        for (let first = heap.first; first; first = heap.first) {
          heap.remove(first);
          drained.push(first.dueMs);
        }
        expect(drained).toEqual(inside.map((item) => item.dueMs).sort((a, b) => a - b));
      }),
      { seed: 1 },
    );
  });
});

const tickOver = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("schedule", () => {
  test("rings in order, once, with one timer for all and none when nothing is set", () => {
    const clock = new ManualClock();
    const schedule = new Schedule(clock);
    const rung: string[] = [];
    schedule.after(30, () => rung.push("c"));
    const b = schedule.after(20, () => rung.push("b"));
    schedule.after(10, () => rung.push("a"));
    schedule.after(Number.POSITIVE_INFINITY, () => rung.push("never"));
    expect(clock.pendingTimers).toBe(1);
    schedule.cancel(b);
    clock.advance(100);
    expect(rung).toEqual(["a", "c"]);
    expect(clock.pendingTimers).toBe(0);
  });

  test("cancelling the last alarm leaves no timer beyond the turn", async () => {
    const clock = new ManualClock();
    const schedule = new Schedule(clock);
    const alarm = schedule.after(10, () => {});
    schedule.cancel(alarm);
    schedule.cancel(alarm);
    schedule.cancel(null);
    await tickOver();
    expect(clock.pendingTimers).toBe(0);
  });

  test("the timer lets the process end while no alarm is set, and keeps it alive for the next one", () => {
    const told: string[] = [];
    const timer = { ref: () => void told.push("ref"), unref: () => void told.push("unref") };
    const setTimer: Clock["setTimer"] = () => Object.assign(() => void told.push("cancel"), timer);
    const schedule = new Schedule({ now: () => ({ monoMs: 0, wallMs: 0 }), setTimer });
    const [first, second] = [schedule.after(10, () => {}), schedule.after(20, () => {})];
    schedule.cancel(second);
    expect(told).toEqual([]);
    schedule.cancel(first);
    schedule.after(30, () => {});
    expect(told).toEqual(["unref", "ref"]);
  });

  test("an alarm may set and cancel others while it rings", () => {
    const clock = new ManualClock();
    const schedule = new Schedule(clock);
    const rung: string[] = [];
    const doomed = schedule.after(10, () => rung.push("doomed"));
    schedule.after(5, () => {
      schedule.cancel(doomed);
      schedule.after(0, () => rung.push("at once"));
    });
    clock.advance(5);
    expect(rung).toEqual(["at once"]);
    clock.advance(100);
    expect(rung).toEqual(["at once"]);
  });
});

describe("rounds", () => {
  const setUp = (chunk = 10) => {
    const clock = new ManualClock();
    const visits: number[][] = [];
    const rounds = new BatchTimer<{ n: number }>(new Schedule(clock), {
      visit: (items) => visits.push(items.map((item) => item.n)),
      earlyMs: () => 20,
      chunk,
    });
    return { clock, visits, rounds };
  };

  test("what falls due soon after is taken along, what is later is not", () => {
    const { clock, visits, rounds } = setUp();
    rounds.set({ n: 1 }, 100);
    rounds.set({ n: 2 }, 119);
    rounds.set({ n: 3 }, 121);
    clock.advance(100);
    expect(visits).toEqual([[1, 2]]);
    clock.advance(21);
    expect(visits).toEqual([[1, 2], [3]]);
    expect(clock.pendingTimers).toBe(0);
  });

  test("many are visited in chunks", () => {
    const { clock, visits, rounds } = setUp(4);
    for (let n = 0; n < 10; n++) rounds.set({ n }, 50);
    clock.advance(50);
    expect(visits.map((visit) => visit.length)).toEqual([4]); // one a turn
    clock.advance(1);
    expect(visits.map((visit) => visit.length)).toEqual([4, 4, 2]);
  });

  test("setting again moves the visit; deleting the last leaves no timer", async () => {
    const { clock, visits, rounds } = setUp();
    const item = { n: 1 };
    rounds.set(item, 10);
    rounds.set(item, 50);
    clock.advance(49);
    expect(visits).toEqual([]);
    rounds.delete(item);
    rounds.delete(item);
    await tickOver();
    expect(clock.pendingTimers).toBe(0);
    rounds.set(item, 0);
    clock.advance(0);
    expect(visits).toEqual([[1]]);
  });
});

describe("durations", () => {
  const bounds = { minMs: 0, maxMs: 100_000 };

  test.each([
    [500, 500],
    ["500ms", 500],
    ["10s", 10_000],
    ["1m", 60_000],
  ])("%s is %d ms", (value, ms) => {
    expect(durationMs("ttlMs", value, bounds)).toBe(ms);
  });

  test.each([-1, 100_001, 1.5, Number.NaN, "10", "ten seconds", "1.5s", null, undefined, {}, 10n, true])(
    "%s is refused by name",
    (value) => {
      expect(() => durationMs("ttlMs", value, bounds)).toThrow(/^ttlMs /);
      expect(() => durationMs("ttlMs", value, bounds)).toThrow(
        expect.objectContaining({ code: "INVALID_ARGUMENT" }),
      );
    },
  );
});

test("ids are 128 bits of URL-safe text and do not repeat", () => {
  const ids = new Set(Array.from({ length: 2_000 }, () => systemRandom.id()));
  expect(ids.size).toBe(2_000);
  for (const id of ids) expect(id).toMatch(/^[\w-]{22}$/);
});
