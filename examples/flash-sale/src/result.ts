/** From what the buyers heard and the servers counted to the figures of the table. */
import type { Rush } from "./load/buyers.js";
import type { StockSample, Tally } from "./servers/messages.js";
import type { VariantName } from "./variants.js";

export interface LatencyMs {
  readonly mean: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface VariantResult {
  readonly name: VariantName;
  /** Buyers who were told that they have bought. */
  readonly sold: number;
  readonly oversold: number;
  /** Pieces that no buyer got although there were buyers enough. */
  readonly lost: number;
  /** Answers other than 200, and requests without an answer. */
  readonly errors: number;
  readonly requestsPerSecond: number;
  readonly latencyMs: LatencyMs;
  /** Sales counted by the servers that lived to tell. */
  readonly soldByServers: number;
  /** Sales of such a server whose buyer never heard of it. 0 unless connections broke. */
  readonly unheardSales: number;
  readonly staleRefusals: number;
  /** The first error of each kind that the servers met. */
  readonly failures: readonly string[];
  readonly killedPids: readonly number[];
  /** What the stock says in the end. */
  readonly leftAtEnd: number;
}

/** What the pictures are drawn from. */
export interface VariantTrace {
  /** Ordered by time, which counts from the first request. */
  readonly stock: readonly StockSample[];
  /** When each buyer heard of the purchase, in order, from the first request. */
  readonly soldAtMs: readonly number[];
  readonly latenciesMs: readonly number[];
}

export interface VariantFacts {
  readonly name: VariantName;
  readonly stock: number;
  readonly requests: number;
  readonly rush: Rush;
  readonly tallies: readonly Tally[];
  readonly killedPids: readonly number[];
  readonly leftAtEnd: number;
}

export function resultOf(facts: VariantFacts): VariantResult {
  const { answers, unanswered, durationMs } = facts.rush;
  const sales = answers.flatMap(({ sale }) => (sale?.sold ? [sale] : []));
  const refused = answers.filter(({ sale }) => sale === null).length;
  const heardFrom = (pid: number): number => sales.filter((sale) => sale.pid === pid).length;
  return {
    name: facts.name,
    sold: sales.length,
    oversold: Math.max(0, sales.length - facts.stock),
    lost: Math.max(0, Math.min(facts.stock, facts.requests) - sales.length),
    errors: refused + unanswered,
    requestsPerSecond: rounded(durationMs > 0 ? (answers.length * 1_000) / durationMs : 0, 1),
    latencyMs: latencyOf(answers.map(({ latencyMs }) => latencyMs)),
    soldByServers: sum(facts.tallies.map(({ sold }) => sold)),
    unheardSales: sum(facts.tallies.map(({ pid, sold }) => sold - heardFrom(pid))),
    staleRefusals: sum(facts.tallies.map(({ staleRefusals }) => staleRefusals)),
    failures: [...new Set(facts.tallies.flatMap(({ failures }) => failures))],
    killedPids: facts.killedPids,
    leftAtEnd: facts.leftAtEnd,
  };
}

export function traceOf({ rush, tallies, stock }: VariantFacts): VariantTrace {
  const samples = tallies
    .flatMap((tally) => tally.samples)
    .map(({ atMs, left }) => ({ atMs: atMs - rush.startedAtMs, left }))
    .sort((a, b) => a.atMs - b.atMs);
  return {
    stock: [{ atMs: 0, left: stock }, ...samples],
    soldAtMs: rush.answers.flatMap(({ atMs, sale }) => (sale?.sold ? [atMs] : [])),
    latenciesMs: rush.answers.map(({ latencyMs }) => latencyMs).sort((a, b) => a - b),
  };
}

function latencyOf(latenciesMs: readonly number[]): LatencyMs {
  const sorted = [...latenciesMs].sort((a, b) => a - b);
  return {
    mean: rounded(sorted.length > 0 ? sum(sorted) / sorted.length : 0, 2),
    p50: rounded(percentile(sorted, 0.5), 2),
    p99: rounded(percentile(sorted, 0.99), 2),
    max: rounded(sorted.at(-1) ?? 0, 2),
  };
}

/** Nearest rank: a latency that some buyer really had. 0 of none. */
function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function rounded(number: number, digits: number): number {
  return Number(number.toFixed(digits));
}
