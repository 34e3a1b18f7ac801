import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lower, tidy } from "../tidy.ts";
import { tree } from "./tree.ts";

const list = "scripts/tidy/test-clocks.json";
const manifest = (name: string) => JSON.stringify({ name, private: true });
const house = {
  "package.json": JSON.stringify({ name: "house", devDependencies: { "fast-check": "4" } }),
  "scripts/package.json": manifest("scripts"),
  "packages/holdfast/package.json": manifest("holdfast"),
  "packages/conformance/package.json": manifest("@holdfast/conformance"),
  "examples/sale/package.json": manifest("sale"),
  "bench/package.json": manifest("bench"),
};
type Files = Readonly<Record<string, string>>;
type Numbers = Readonly<Record<string, number>>;
const suite = "packages/holdfast/test/a.test.ts";

function grown(files: Files, allowed: Numbers = {}): string {
  return tree({ ...house, ...files, [list]: JSON.stringify(allowed, null, 2) });
}

/** Findings of the rule, "file:line message". */
function findings(files: Files, allowed: Numbers = {}): string[] {
  return tidy(grown(files, allowed))
    .filter(({ rule }) => rule === "test-clock")
    .map(({ file, line, message }) => `${file}:${line} ${message}`);
}

/** The lines of a test with a use. */
function lines(code: string, others: Files = {}): number[] {
  const folder = grown({ ...others, [suite]: `${code}\n` });
  return tidy(folder)
    .filter(({ rule, file }) => rule === "test-clock" && file === suite)
    .flatMap(({ message }) => /lines ([\d, ]+)/.exec(message)?.[1]?.split(", ").map(Number) ?? []);
}

describe("a use of the machine's clock or chance", () => {
  test.each([
    "setTimeout(run, 1);",
    "globalThis.setTimeout(run, 1);",
    "setInterval(run, 1);",
    "await new Promise((resolve) => setTimeout(resolve, 5));",
    "Date.now();",
    "new Date();",
    "Date();",
    "performance.now();",
    "globalThis.performance;",
    "process.hrtime();",
    "process.hrtime.bigint();",
    "AbortSignal.timeout(3);",
    "Math.random();",
    "systemClock.setTimer(run, 5);",
    'import { setTimeout as sleep } from "node:timers/promises";',
    'import * as timers from "timers/promises";',
    "globalThis.Date.now();",
    "global.setTimeout(run, 1);",
    "self.performance.now();",
    "globalThis.AbortSignal.timeout(3);",
    "const { now } = Date;",
    "const { setTimeout: rest } = globalThis;",
    "const { timeout } = AbortSignal;",
    "const { hrtime } = process;",
    "const D = Date;",
    "const p = performance;",
  ])("%s is one", (code) => {
    expect(lines(code)).toEqual([1]);
    const others = [
      "packages/holdfast/test/deep/lab.mjs",
      "packages/conformance/src/mutex/cases.mts",
      "examples/sale/test/fixture.js",
      "bench/test/a.ts",
      "scripts/test/a.test.ts",
    ];
    const files = Object.fromEntries(others.map((file) => [file, `${code}\n`]));
    expect(findings(files)).toHaveLength(others.length);
  });

  test.each([
    "new Date(at);",
    "setImmediate(run);",
    "clearTimeout(timer);",
    'import { setImmediate as turn } from "node:timers/promises";\nawait turn();',
    "await process.sleep(5);",
    "clock.setTimeout(run, 1);",
    "world.pause(5);",
    "const locks = new Locks(store, systemClock);",
    "const options = { delay, pause: true };",
    "type Timer = ReturnType<typeof setTimeout>;",
    "test('in virtual time', ({ sleep }) => sleep(5));",
    "// Date.now() is wrong here",
  ])("%s is none", (code) => {
    expect(lines(code)).toEqual([]);
  });

  test("is allowed in what ships, in the soak, and in the files of until and within", () => {
    const code = "setTimeout(run, 1);\n";
    const free = [
      "examples/sale/src/a.ts",
      "scripts/test.ts",
      "packages/lab/test/kill.soak.test.ts",
      "packages/conformance/src/time.ts",
      "packages/conformance/src/wait.ts",
    ];
    expect(findings(Object.fromEntries(free.map((file) => [file, code])))).toEqual([]);
    expect(findings({ "packages/holdfast/test/time.ts": code })).toHaveLength(1);
  });

  test("is each call of a timer under another name", () => {
    const named = 'import { setTimeout as rest } from "node:timers/promises";\nrest(1);\nrest(2);';
    expect(lines(named)).toEqual([1, 2, 3]);
    const whole = 'import timers from "node:timers/promises";\ntimers.setTimeout(1);\ntimers.setImmediate();';
    expect(lines(whole)).toEqual([1, 2]);
    expect(lines('import { setTimeout } from "node:timers/promises";\nsetTimeout(1);')).toEqual([1, 2]);
  });

  test("is each call of a function of the file that does nothing else", () => {
    const rest = "const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms));\n";
    expect(lines(`${rest}await rest(1);\nawait rest(2);`)).toEqual([1, 2, 3]);
    expect(lines("function nowMs() {\n  return performance.now();\n}\nnowMs();")).toEqual([2, 4]);
    expect(lines("const pause = () => new Promise((resolve) => setImmediate(resolve));\npause();")).toEqual(
      [],
    );
    const scene = "async function scene() {\n  await act();\n  setTimeout(run, 1);\n}\nscene();\nscene();";
    expect(lines(scene)).toEqual([3]);
  });

  test("is each call of a function of another file that sleeps, by its declaration or else by its name", () => {
    const use = 'import { pause, rest as idle } from "./lab.js";\npause();\nidle();';
    const lab = (run: string) => ({
      "packages/holdfast/test/lab.ts": `export const pause = (): void => ${run};\nexport const rest = pause;\n`,
    });
    expect(lines(use, lab("setTimeout(run, 1)"))).toEqual([2]);
    expect(lines(use, lab("setImmediate(run)"))).toEqual([]);
    expect(lines('import { delay, act } from "lab";\nawait delay(5);\nact();')).toEqual([2]);
    const loop =
      "export async function until() {\n  while (await act()) await new Promise((r) => setTimeout(r));\n}\n";
    const asked = 'import { until } from "./lab.js";\nawait until();';
    expect(lines(asked, { "packages/holdfast/test/lab.ts": loop })).toEqual([]);
  });

  test("is each call of the real clock of the cases", () => {
    const code = 'import { pauseRealMs, realNowMs as now } from "../time.js";\nnow();\npauseRealMs(1);\n';
    const [found] = findings({ "packages/conformance/src/mutex/faults.ts": code });
    expect(found).toMatch(/faults\.ts:2 .*\(lines 2, 3\)/);
  });
});

describe("the list of the uses that are left", () => {
  const three = { [suite]: "Date.now();\n\nDate.now(); Math.random();\n" };

  test("a file with its number of uses passes", () => {
    expect(findings(three, { [suite]: 3 })).toEqual([]);
  });

  test("a file above its number is named at its first use too many, with the lines of all", () => {
    expect(findings(three, { [suite]: 2 })).toEqual([
      expect.stringMatching(
        /a\.test\.ts:3 Math\.random: 3 uses of the machine's clock or chance \(lines 1, 3\), at most 2 allowed/,
      ),
    ]);
    expect(findings(three)).toHaveLength(1);
  });

  test("a number above the uses is to be lowered", () => {
    const [finding, ...others] = findings(three, { "packages/holdfast/test/z.ts": 1, [suite]: 5 });
    expect(finding).toMatch(/^scripts\/tidy\/test-clocks\.json:2 .*z\.ts has 0 uses.*: delete the entry/);
    expect(others).toEqual([
      expect.stringMatching(
        /^scripts\/tidy\/test-clocks\.json:3 .*a\.test\.ts has 3 uses.*: lower the number in scripts\/tidy\/test-clocks\.json to 3/,
      ),
    ]);
  });

  test("no list allows more than all uses that there ever were", () => {
    const uses = { [suite]: "Date.now();\n".repeat(1_000) };
    expect(findings(uses, { [suite]: 1_000 })).toEqual([
      expect.stringMatching(
        /^scripts\/tidy\/test-clocks\.json:1 1000 uses .* are allowed in all, at most \d+/,
      ),
    ]);
  });

  test("an entry without a use is to be deleted", () => {
    const clean = { [suite]: "export {};\n" };
    expect(findings(clean, { [suite]: 1 })).toEqual([expect.stringContaining("delete the entry")]);
    expect(findings(clean, { [suite]: 0 })).toEqual([expect.stringContaining("delete the entry")]);
  });

  test("lower() lowers numbers, deletes entries, and neither raises nor adds one", () => {
    const other = "packages/holdfast/test/b.test.ts";
    const small = "packages/holdfast/test/c.test.ts";
    const files = { ...three, [other]: "Date.now();\n", [small]: "Date.now();\nDate.now();\n" };
    const folder = grown(files, { [small]: 1, [suite]: 7, "packages/holdfast/test/gone.ts": 2 });
    lower(folder);
    expect(readFileSync(join(folder, list), "utf8")).toBe(
      `{\n  "${suite}": 3,\n  "packages/holdfast/test/c.test.ts": 1\n}\n`,
    );
  });
});

describe("a property of fast-check", () => {
  const seeds = (code: string): number[] =>
    tidy(grown({ [suite]: `${code}\n` }))
      .filter(({ rule }) => rule === "test-seed")
      .map(({ line }) => line);
  const whole = 'import fc from "fast-check";\n';

  test.each([
    `${whole}fc.assert(property);`,
    `${whole}fc.check(property, { numRuns: 5 });`,
    `${whole}fc.assert(property, options);`,
    'import * as check from "fast-check";\ncheck.assert(property);',
    'import { assert as holds } from "fast-check";\nholds(property);',
  ])("%s has no seed", (code) => {
    expect(seeds(code)).toEqual([2]);
  });

  test.each([
    `${whole}fc.assert(property, { seed: 1, numRuns: 5 });`,
    `${whole}fc.check(property, { numRuns: 5, seed });`,
    `${whole}fc.nat(5);`,
    'import assert from "node:assert";\nassert.check(value);',
  ])("%s passes", (code) => {
    expect(seeds(code)).toEqual([]);
  });
});
