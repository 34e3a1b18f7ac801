/** The instrument, not the figures: short runs of the real program on a real redis-server. */
import { needing } from "@holdfast/conformance";
import { describe, expect, test, vi } from "vitest";
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
