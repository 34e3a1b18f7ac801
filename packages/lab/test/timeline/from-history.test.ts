/** The picture of a history: everything that matters of it, around what went wrong. */
import { describe, expect, test } from "vitest";
import { Dice } from "../../src/chance/dice.ts";
import { checkIntervals } from "../../src/history/intervals.ts";
import type { Operation } from "../../src/history/operation.ts";
import { timelineOf } from "../../src/timeline/from-history.ts";
import { drawSvg } from "../../src/timeline/svg.ts";
import { drawText } from "../../src/timeline/text.ts";
import { checkEverything } from "../history/everything.ts";
import { IdealRun } from "../history/ideal-lock.ts";
import { mutations } from "../history/mutations.ts";

const base = 1_789_473_600_123_000n;
const history: Operation[] = [
  {
    process: "a",
    seq: 0,
    f: "acquire",
    key: "k",
    invMs: 0,
    retMs: 1,
    type: "ok",
    token: base + 1n,
    validUntilMs: 20,
  },
  { process: "b", seq: 0, f: "acquire", key: "k", invMs: 2, retMs: 22, type: "ok", token: base + 2n },
  { process: "nemesis", seq: 0, f: "pause", key: "a", invMs: 5, retMs: 30, type: "info" },
  { process: "nemesis", seq: 1, f: "cut", key: "a and redis", invMs: 6, retMs: 7, type: "info" },
  { process: "b", seq: 1, f: "write", key: "file", invMs: 23, retMs: 24, type: "ok", token: base + 2n },
  {
    ...{
      process: "a",
      seq: 1,
      f: "write",
      key: "file",
      invMs: 31,
      retMs: 32,
      type: "fail",
      token: base + 1n,
    },
    error: "STALE_TOKEN",
  },
  { process: "b", seq: 2, f: "release", key: "k", invMs: 40, retMs: 45, type: "info", error: "timeout" },
];

describe("a timeline of a history", () => {
  test("shows holds, waits, faults and refusals", () => {
    expect(drawText(timelineOf(history, { title: "A pause" }))).toMatchInlineSnapshot(`
      "A pause

      ms   a             b             file
       0   ┊             │             │               a waits for "k"
       1   █…001         │             │               a has "k", token …001
       2   █             ┊             │               b waits for "k"
       5   ▒             ┊             │               a is stopped (pause)
       6   ▒             ┊             │               cut: a and redis
      20   ░             ┊             │               the lease of a runs out
      22   ░             █…002         │               b has "k", token …002
      24   ░             █────────────▶│               b → file: write, token …002
      30   ▀             █             │               a goes on
      32   ├─────────────█────────────▶⊘               a → file: write, token …001; "file" refuses the
           │             █             │               write of a (STALE_TOKEN)
      40   │             ▀             │               b gives "k" back
      45   │             •             │               b does not know what became of its release
           │             │             │               (timeout)

      █ has the lock  ┊ waits  ▒ has it and is paused  ░ is paused  ⊘ refused by the fence
      "
    `);
  });

  test("keeps to what a violation is about, and marks it", () => {
    const late = {
      process: "c",
      seq: 0,
      f: "acquire",
      key: "k",
      invMs: 990,
      retMs: 1_000,
      type: "ok",
    } as const;
    const early = { ...late, process: "d", invMs: 900, retMs: 950, endMs: 1_010 };
    const operations = [...history.slice(0, 2).map((one) => ({ ...one, endMs: 30 })), early, late];
    const violations = checkIntervals(operations).filter(({ operations: [one] }) => one?.process === "d");
    const timeline = timelineOf(operations, { title: "Two holders", violations });
    expect(timeline.lanes.map(({ id }) => id)).toEqual(["d", "c"]);
    expect(timeline.bands).toEqual([{ fromMs: 1_000, toMs: 1_010, kind: "violation", label: "" }]);
    expect(timeline.marks).toMatchObject([{ lane: "c", atMs: 1_000, kind: "violation" }]);
    expect(timeline.marks?.[0]?.label).toContain("was held at one time by d");
  });

  test("can be drawn for whatever checkers find", () => {
    for (const [at, mutation] of mutations.entries()) {
      for (let seed = 1, drawn = 0; drawn < 3 && seed < 2_000; seed++) {
        const valid = new IdealRun({ seed, clients: 4, operations: 40, trouble: (seed % 3) / 10 }).run();
        const broken = mutation.apply(valid, new Dice(seed));
        if (!broken) continue;
        drawn++;
        const { operations, deathsMs } = broken;
        const violations = checkEverything(broken).filter(({ property }) => property === mutation.property);
        const timeline = timelineOf(operations, { title: mutation.kind, violations, deathsMs });
        const text = drawText(timeline);
        expect(text, `${at}, seed ${seed}`).toContain("a rule is broken");
        expect(text + drawSvg(timeline), `${at}, seed ${seed}`).not.toMatch(/undefined|NaN|Infinity/);
      }
    }
  });
});
