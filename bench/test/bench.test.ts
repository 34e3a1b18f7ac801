/** The instrument, not the figures: short runs of the real program on a real redis-server. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { needing } from "@holdfast/conformance";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { figures } from "../src/figures.ts";
import { bench, found, result, SLICE_SECONDS } from "./program.ts";

// Whole processes: a few seconds each, several times that on a machine with its hands full.
vi.setConfig({ testTimeout: 120_000 });

needing(describe, "redis-server")("measures on a real redis-server", () => {
  test("a cycle by hand is two requests, and four commands with those in its script", async () => {
    const run = await result("l1", "--only", "floor");
    expect(run.schema).toBe(1);
    expect(run.machine.packages["ioredis"]).toMatch(/^6\./);
    const cycle = found(run, "l1", "floor");
    expect(cycle.requestsPerCycle).toBe(2);
    // The connection of the probe and the keepers of idle time add a few, however many cycles a slice has.
    const { commandsPerCycle = Number.NaN, cyclesPerSecond = Number.NaN } = cycle;
    const more = (commandsPerCycle - 4) * cyclesPerSecond * SLICE_SECONDS;
    expect(Math.round(more)).toBeGreaterThanOrEqual(0);
    expect(more).toBeLessThan(10);
    expect(cycle.gaveUp).toBe(0);
    for (const name of run.questions[0]?.cases[0]?.columns ?? []) expect(figures[name].head).not.toBe("");
  });
});

/** A clone whose library asks three times for each lock. */
function otherClone(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-before-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const library = join(folder, "packages/holdfast");
  mkdirSync(join(library, "dist"), { recursive: true });
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(library, join(folder, "node_modules/holdfast"), "dir");
  const manifest = { name: "holdfast", type: "module", exports: "./dist/index.js" };
  writeFileSync(join(library, "package.json"), JSON.stringify(manifest));
  writeFileSync(
    join(library, "dist/index.js"),
    `export class Holdfast {
      constructor(client) { this.client = client; }
      mutex() { return { acquire: () => this.acquire() }; }
      async acquire() {
        for (let asked = 0; asked < 3; asked += 1) await this.client.ping();
        return { release: async () => "released" };
      }
      async close() {}
    }`,
  );
  return folder;
}

needing(test, "redis-server")(
  "measures the library of another clone beside this one, and says which is slower",
  async () => {
    // A busy machine must measure each case of both: many callers may need more than a short slice for their first turn.
    const run = await result("l1", "--against", otherClone(), "--seconds", "0.4");
    const [first] = run.questions[0]?.cases ?? [];
    expect(first?.contestants.map(({ name }) => name)).toEqual(["holdfast", "before"]);
    expect(found(run, "l1", "holdfast").requestsPerCycle).toBeCloseTo(2, 1);
    expect(found(run, "l1", "before").requestsPerCycle).toBe(3);
    const [target] = run.questions[0]?.targets ?? [];
    expect(target?.text).toContain("l1 one, holdfast: at least 0.97 of before, or at most 1.03 of its CPU");
    expect(target?.found).toMatch(/^median \d+\.\d{3} \(.+, 1 round\), of CPU \d+\.\d{3}$/);
  },
);

test("without a redis-server one line says what to do", async () => {
  const { exitCode, stderr } = await bench(["l1"], { ...process.env, HOLDFAST_REDIS_SERVER: "", PATH: "" });
  expect({ exitCode, stderr }).toEqual({
    exitCode: 69,
    stderr: "bench: needs redis-server on PATH: apt-get install redis-server\n",
  });
});

test.each([
  ["l9"],
  ["--rounds", "0"],
  ["--seconds", "soon"],
  ["--only", "luck"],
  ["--fast"],
  ["--against", "nowhere"],
])("refuses %s %s with exit code 64", async (...args) => {
  const { exitCode, stdout, stderr } = await bench(args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 64, stdout: "" });
  expect(stderr).toContain("--help");
});
