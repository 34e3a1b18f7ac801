import { ManualClock } from "@holdfast/conformance";
import { describe, expect, it } from "vitest";

describe("ManualClock", () => {
  it("fires timers in the order of their times, each at its own time", () => {
    const clock = new ManualClock();
    const startMs = clock.now().monoMs;
    const fired: [string, number][] = [];
    const note = (name: string) => () => void fired.push([name, clock.now().monoMs - startMs]);
    clock.setTimer(note("late"), 20);
    clock.setTimer(note("early"), 10);
    clock.setTimer(note("early too"), 10);
    clock.setTimer(note("after"), 31);
    clock.advance(30);
    expect(fired).toEqual([
      ["early", 10],
      ["early too", 10],
      ["late", 20],
    ]);
    expect(clock.now().monoMs - startMs).toBe(30);
    expect(clock.pendingTimers).toBe(1);
  });

  it("fires timers that are set while it advances, and none that were cancelled", () => {
    const clock = new ManualClock();
    const fired: string[] = [];
    const cancel = clock.setTimer(() => fired.push("cancelled"), 15);
    clock.setTimer(() => {
      fired.push("first");
      cancel();
      clock.setTimer(() => fired.push("second"), 5);
    }, 10);
    clock.advance(15);
    expect(fired).toEqual(["first", "second"]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("moves without firing in a stall, and fires what is late afterwards", () => {
    const clock = new ManualClock();
    let fired = 0;
    clock.setTimer(() => fired++, 10);
    clock.stall(50);
    expect(fired).toBe(0);
    clock.advance(0);
    expect(fired).toBe(1);
  });

  it("steps the wall clock alone", () => {
    const clock = new ManualClock();
    const before = clock.now();
    clock.stepWall(-5_000);
    expect(clock.now()).toEqual({ monoMs: before.monoMs, wallMs: before.wallMs - 5_000 });
  });

  it("fires a timer without delay by itself", async () => {
    const clock = new ManualClock();
    await new Promise<void>((resolve) => clock.setTimer(resolve, 0));
    expect(clock.pendingTimers).toBe(0);
  });
});
