/** The instrument, not the figures: short runs of the real program on a real redis-server. */
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { figures } from "../src/figures.ts";
import type { QuestionId, RunResult } from "../src/result.ts";

const PROGRAM = resolve(import.meta.dirname, "../dist/main.js");

// Whole processes: a few seconds each, several times that on a machine with its hands full.
vi.setConfig({ testTimeout: 120_000 });

const SLICE_SECONDS = 0.1;

interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

function bench(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Ended> {
  return new Promise((done) => {
    execFile(process.execPath, [PROGRAM, ...args], { env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      done({ exitCode: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
  });
}

async function result(...args: string[]): Promise<RunResult> {
  const short = ["--rounds", "1", "--seconds", String(SLICE_SECONDS), "--json", "--no-save"];
  const { exitCode, stdout, stderr } = await bench([...args, ...short]);
  if (exitCode !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

function found(run: RunResult, id: QuestionId, name: string) {
  const each = run.questions
    .find((question) => question.id === id)
    ?.cases[0]?.contestants.find((contestant) => contestant.name === name);
  if (!each || each.failed !== null) throw new Error(`${id} ${name}: ${each?.failed ?? "is missing"}`);
  return each.figures;
}

describe.skipIf(!process.env.HOLDFAST_REDIS_SERVER)("measures on a real redis-server", () => {
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

  test("a counter without a lock loses updates between processes, and none under holdfast", async () => {
    const run = await result("l3", "--only", "holdfast,no-lock");
    // A busy machine may run the processes of one slice one after the other: then it is measured again.
    let { lostUpdates } = found(run, "l3", "no-lock");
    while (lostUpdates === 0)
      ({ lostUpdates } = found(await result("l3", "--only", "no-lock"), "l3", "no-lock"));
    expect(lostUpdates).toBeGreaterThan(0);
    const own = found(run, "l3", "holdfast");
    expect(own.lostUpdates).toBe(0);
    expect(own.cyclesPerSecond).toBeGreaterThan(0);
    expect(run.questions[0]?.targets.find(({ text }) => text === "L3: no lost update")?.reached).toBe(true);
  });

  test("a refused check is answered in memory, and no more than ten are admitted; an admitted one is one request", async () => {
    const run = await result("r1", "r2", "--only", "gcra,holdfast");
    expect(found(run, "r1", "holdfast").requestsPerCheck).toBe(1);
    expect(found(run, "r1", "gcra")).toMatchObject({ requestsPerCheck: 1, refused: 0 });
    for (const name of ["holdfast", "gcra"])
      expect(found(run, "r2", name).admitted, name).toBeLessThanOrEqual(10); // fewer in a slice of a slow machine
    // Each admission is a request, and so is the first refusal; the others are answered in memory.
    const { requestsPerCheck = Number.NaN, admitted = 0, refused = 0 } = found(run, "r2", "holdfast");
    expect(Math.round(requestsPerCheck * (admitted + refused))).toBeLessThanOrEqual(admitted + 1);
  });

  test("a hot lock, a hand-off and a first lease have figures", async () => {
    const run = await result("l2", "l4", "first-lease", "--only", "holdfast");
    expect(found(run, "l2", "holdfast")).toMatchObject({ lostUpdates: 0, gaveUp: 0 });
    expect(found(run, "l4", "holdfast").p50Ms).toBeGreaterThan(0);
    expect(found(run, "first-lease", "holdfast")).toMatchObject({ timers: 0, sockets: 0 });
    expect(found(run, "first-lease", "holdfast").firstLeaseMs).toBeGreaterThan(0);
  });
});

test("without a redis-server one line says what to do", async () => {
  const { exitCode, stderr } = await bench(["l1"], { ...process.env, HOLDFAST_REDIS_SERVER: "", PATH: "" });
  expect({ exitCode, stderr }).toEqual({
    exitCode: 69,
    stderr: "bench: needs redis-server on PATH: apt-get install redis-server\n",
  });
});

test.each([["l9"], ["--rounds", "0"], ["--seconds", "soon"], ["--only", "luck"], ["--fast"]])(
  "refuses %s %s with exit code 64",
  async (...args) => {
    const { exitCode, stdout, stderr } = await bench(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 64, stdout: "" });
    expect(stderr).toContain("--help");
  },
);
