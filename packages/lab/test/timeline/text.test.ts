/** A timeline on a terminal, to the letter where it is small, and within its columns wherever. */
import { describe, expect, test } from "vitest";
import { Dice } from "../../src/chance/dice.ts";
import { drawText } from "../../src/timeline/text.ts";
import { anyTimeline, pause } from "./examples.ts";

describe("a timeline as text", () => {
  test("tells a story from top to bottom", () => {
    expect(drawText(pause, { columns: 80 })).toMatchInlineSnapshot(`
      "A pause longer than the lease
      worker-1 is paused while its lease runs out; the file refuses what it writes
      afterwards.

               worker-1
               │       worker-2
               │       │       redis
           s   │       │       │       file
       0.001   ├───────┼──────▶│       │         worker-1 → redis: acquire
       0.002   █◀──────┼───────┤       │         redis → worker-1: granted 41;
               █41     │       │       │         worker-1 has the lock, token 41
       0.003   █       ┊       │       │         worker-2 waits
       0.004   █       ┊──────▶│       │         worker-2 → redis: acquire
           ⋮   █       ┊       ⋮       ⋮         996 ms pass
       1.000   ▒       ┊       │       │         worker-1 is paused
           ⋮   ▒       ┊       ⋮       ⋮         9 s pass
      10.002   ░       ┊       │       │         the lease runs out
      10.004   ░       █◀──────┤       │         redis → worker-2: granted 42;
               ░       █42     │       │         worker-2 has the lock, token 42
           ⋮   ░       █       ⋮       ⋮         3 s pass
      13.000   ▀       █       │       │         worker-1 goes on
      13.002   ├───────█───────┼──────▶⊘         worker-1 → file: write 41; the file
               │       █       │       │         has seen 42 and refuses 41
      13.500   │       ▀┄┄┄✗   │       │         worker-2 no longer has it; worker-2 →
               │       │       │       │         redis: release (lost)

      █ has the lock  ┊ waits  ▒ has it and is paused  ░ is paused
      ⊘ refused by the fence  ✗ message lost
      "
    `);
  });

  test("leaves the lane of a crashed process empty until it starts again, and flags what is wrong", () => {
    const drawn = drawText({
      title: "Two holders",
      lanes: [
        { id: "a", kind: "process" },
        { id: "b", kind: "process" },
      ],
      bars: [
        { lane: "a", fromMs: 0, toMs: 1, kind: "hold", label: "7" },
        { lane: "a", fromMs: 1, toMs: 3, kind: "stale" },
        { lane: "b", fromMs: 2, toMs: Infinity, kind: "hold", label: "8" },
      ],
      marks: [
        { lane: "b", atMs: 2, kind: "violation", label: "b has it while a believes to have it" },
        { lane: "a", atMs: 3, kind: "crash", label: "a is killed" },
        { lane: "a", atMs: 5, kind: "restart", label: "a is back" },
      ],
      bands: [{ fromMs: 4, toMs: 5, kind: "fault", label: "the network is cut" }],
    });
    expect(drawn).toMatchInlineSnapshot(`
      "Two holders

      ms   a             b
       0   █7            │               a has the lock, token 7
       1 ! ▓             │               a no longer has it; a still believes that it has the lock
       2 ! ▓             !8              b has the lock, token 8; b has it while a believes to have it
       3   ✖             █               a is killed
       4                 █               the network is cut
       5   ↻             █               a is back

      █ has the lock  ▓ only believes that it has it  ✖ crashed  ↻ started again  ! a rule is broken
      "
    `);
  });

  test("says that a rule is broken where one is", () => {
    const lanes = [{ id: "a", kind: "process" }] as const;
    const bars = [{ lane: "a", fromMs: 1, toMs: 3, kind: "stale" }] as const;
    const drawn = drawText({ title: "", lanes, bars });
    expect(drawn).toContain("! here it can go wrong");
    const marks = [{ lane: "a", atMs: 2, kind: "violation", label: "L4" }] as const;
    expect(drawText({ title: "", lanes, bars, marks })).toContain("! a rule is broken");
  });

  test("keeps to its columns with up to ten lanes", () => {
    for (let seed = 1; seed <= 100; seed++) {
      const dice = new Dice(seed);
      const columns = dice.pick([80, 100, 120]);
      const drawn = drawText(anyTimeline(dice), { columns });
      const widest = Math.max(...drawn.split("\n").map((line) => line.length));
      expect(widest, `seed ${seed}`).toBeLessThanOrEqual(columns);
      expect(drawn, `seed ${seed}`).not.toMatch(/undefined|NaN|Infinity/);
    }
  });

  test("says which lane it does not know", () => {
    const marks = [{ lane: "nobody", atMs: 0, kind: "note", label: "" }] as const;
    expect(() => drawText({ ...pause, marks })).toThrow("there is no lane nobody");
  });

  test("of nothing is its title", () => {
    expect(drawText({ title: "Nothing happened", lanes: [] }).trim()).toMatch(/^Nothing happened/);
  });
});
