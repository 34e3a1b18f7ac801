/** What is promised of requests as the processes grow, counted in virtual time. */
import { expect, test } from "vitest";
import type { Load, Row } from "../../src/capacity/load.js";
import { handOver } from "../../src/capacity/loads/hand-over.js";
import { held } from "../../src/capacity/loads/held.js";
import { queuedTogether } from "../../src/capacity/loads/queued.js";
import { refused } from "../../src/capacity/loads/refused.js";
import { waiting } from "../../src/capacity/loads/waiting.js";
import { playVirtually } from "../../src/capacity/virtual.js";

const names = 100;
const watchS = 60;
const scale = {
  ...{ names, watchMs: watchS * 1_000, turnsMs: 2_000 },
  ...{ callsPerSecond: 100, callsMs: 10_000, messages: 200 },
};

async function phaseOf(load: Load, phase: string, processes: number): Promise<Row> {
  const rows = await playVirtually(load, processes, scale);
  const found = rows.find((row) => row.phase === phase);
  if (!found) throw new Error(`${load.id} has no ${phase}`);
  return found;
}

/** Of a ttl of 30 s a third, less a tenth at most: 6 or 7 times in a minute. */
test.each([1, 10])(
  "a process renews all its locks with one request, with %i processes",
  async (processes) => {
    const row = await phaseOf(held, "keep", processes);
    expect(row.done).toBe(names);
    const rounds = row.requests / processes;
    expect(rounds).toBeGreaterThanOrEqual(5.5);
    expect(rounds).toBeLessThanOrEqual(7);
    // One EVALSHA for a request, and a few commands for each lock.
    expect(row.commands / rounds / names).toBeLessThanOrEqual(3);
  },
);

/** Its signs of life, and a PING over its second connection. */
test.each([1, 10])(
  "a process keeps all its places with two requests, with %i processes",
  async (processes) => {
    const row = await phaseOf(waiting, "keep", processes);
    expect(row.done).toBe(names);
    const rounds = row.requests / 2 / processes;
    expect(rounds).toBeGreaterThanOrEqual(5.5);
    expect(rounds).toBeLessThanOrEqual(8);
    expect(row.commands / rounds / names).toBeLessThanOrEqual(12);
  },
);

test("a turn of a hot lock costs three requests at most, however many processes want it", async () => {
  const row = await phaseOf(handOver, "turns", 10);
  expect(row.done).toBeGreaterThan(100);
  expect(row.requests / row.done).toBeLessThanOrEqual(3.1);
});

test.each([1, 10])("a refusal is asked for once by each of %i processes", async (processes) => {
  const row = await phaseOf(refused, "call", processes);
  expect(row.done).toBeGreaterThan(900);
  // Every 6 s one call is admitted, and then each process is refused anew.
  expect(row.requests).toBeLessThanOrEqual(3 * (processes + 1));
});

test.each([1, 10])("messages share requests, with %i processes", async (processes) => {
  const push = await phaseOf(queuedTogether, "push", processes);
  expect([push.done, push.requests <= 2 * processes]).toEqual([scale.messages, true]);
  const consume = await phaseOf(queuedTogether, "consume", processes);
  expect(consume.done).toBe(scale.messages);
  expect(consume.requests / consume.done).toBeLessThanOrEqual(1);
});

test("the same rows each time", async () => {
  expect(await playVirtually(held, 3, scale)).toEqual(await playVirtually(held, 3, scale));
});
