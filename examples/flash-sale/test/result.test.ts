/** From answers and tallies to figures. */
import { describe, expect, test } from "vitest";
import type { Answer } from "../src/load/buyers.js";
import { resultOf, traceOf, type VariantFacts } from "../src/result.js";

function answer(pid: number, sold: boolean, latencyMs: number): Answer {
  return { atMs: latencyMs, latencyMs, sale: { host: "h", pid, sold, left: 0 } };
}

function facts(
  changes: Partial<VariantFacts> & { answers?: readonly Answer[]; unanswered?: number } = {},
): VariantFacts {
  const { answers = [], unanswered = 0, ...rest } = changes;
  return {
    name: "mutex",
    stock: 2,
    requests: 10,
    rush: { answers, unanswered, startedAtMs: 1_000, durationMs: 500 },
    tallies: [],
    killedPids: [],
    leftAtEnd: 0,
    ...rest,
  };
}

function tally(pid: number, sold: number, staleRefusals = 0) {
  return { pid, sold, staleRefusals, failures: pid === 2 ? ["E: two"] : ["E: one"], samples: [] };
}

describe("the result", () => {
  test("counts what buyers heard: sold, oversold, answers a second", () => {
    const answers = [answer(1, true, 1), answer(2, true, 2), answer(2, true, 3), answer(1, false, 4)];
    expect(resultOf(facts({ answers }))).toMatchObject({
      sold: 3,
      oversold: 1,
      lost: 0,
      errors: 0,
      requestsPerSecond: 8,
    });
  });

  test("calls pieces lost only when there were buyers for them", () => {
    const answers = [answer(1, true, 1)];
    expect(resultOf(facts({ answers })).lost).toBe(1);
    expect(resultOf(facts({ answers, requests: 1 })).lost).toBe(0);
  });

  test("counts refused and unanswered requests as errors", () => {
    const answers = [answer(1, true, 1), { atMs: 2, latencyMs: 2, sale: null }];
    expect(resultOf(facts({ answers, unanswered: 3 }))).toMatchObject({ sold: 1, errors: 4 });
  });

  test("checks the servers' books against the buyers', except those of a killed server", () => {
    const answers = [answer(1, true, 1), answer(2, true, 1), answer(9, true, 1)];
    const result = resultOf(facts({ answers, tallies: [tally(1, 1), tally(2, 2, 4)], killedPids: [9] }));
    expect(result).toMatchObject({
      soldByServers: 3,
      unheardSales: 1,
      staleRefusals: 4,
      failures: ["E: one", "E: two"],
      killedPids: [9],
    });
  });

  test("takes percentiles by the nearest rank", () => {
    const answers = Array.from({ length: 200 }, (_, index) => answer(1, false, index + 1));
    expect(resultOf(facts({ answers })).latencyMs).toEqual({ mean: 100.5, p50: 100, p99: 198, max: 200 });
    expect(resultOf(facts()).latencyMs).toEqual({ mean: 0, p50: 0, p99: 0, max: 0 });
  });
});

test("the trace puts the servers' samples on one time line, from the first request", () => {
  const samples = (...atMs: number[]) => atMs.map((at) => ({ atMs: at, left: 2_000 - at }));
  const tallies = [
    { ...tally(1, 0), samples: samples(1_010, 1_030) },
    { ...tally(2, 0), samples: samples(1_020) },
  ];
  const trace = traceOf(facts({ tallies, answers: [answer(1, true, 7), answer(1, false, 3)] }));
  expect(trace.stock.map(({ atMs }) => atMs)).toEqual([0, 10, 20, 30]);
  expect(trace.soldAtMs).toEqual([7]);
  expect(trace.latenciesMs).toEqual([3, 7]);
});
