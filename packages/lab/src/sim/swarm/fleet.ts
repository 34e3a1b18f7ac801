/** A fleet: many seeds at once, one worker thread for each core, and what came of them. */
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { stopwatch } from "../time/stopwatch.js";
import { TraceHash } from "../trace.js";
import type { Failure } from "./scene.js";
import type { Batch, BatchReport, Failed } from "./worker.js";

export interface FleetOptions {
  /** @default "mutex" */
  readonly workload?: string;
  readonly from: number;
  readonly seeds: number;
  /** @default one for each core */
  readonly workers?: number;
  /** Called after every batch, with how many seeds are done. */
  readonly onProgress?: (done: number, failed: number) => void;
  /** Called at once for each seed on which a rule was broken. */
  readonly onFailed?: (seed: number, failure: Failure) => void;
  /** As of a run. @default "lab" */
  readonly clients?: "lab" | "real";
  /** Ends it early. */
  readonly signal?: AbortSignal;
}

export interface FleetReport {
  readonly seeds: number;
  readonly failed: readonly Failed[];
  /** Of the runs of all seeds, in their order. */
  readonly hash: string;
  /** As each run counts it. */
  readonly progress: number;
  readonly deliveries: number;
  readonly virtualMs: number;
  readonly tookMs: number;
  /** Fault and state of the protocol, and how often the one met the other. */
  readonly coverage: ReadonlyMap<string, number>;
}

const batchSeeds = 8;

/** @throws what a run threw: the harness is broken then, not what it tests */
export async function runFleet(options: FleetOptions): Promise<FleetReport> {
  const watch = stopwatch();
  const workers = Math.max(1, Math.min(options.workers ?? availableParallelism(), options.seeds));
  const batches = new Batches(options);
  await Promise.all(Array.from({ length: workers }, () => batches.work()));
  return { ...batches.report(), tookMs: watch() };
}

class Batches {
  readonly #options: FleetOptions;
  readonly #reports = new Map<number, BatchReport>();
  #next: number;
  #done = 0;
  #failed = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#next = options.from;
  }

  /** One worker, until there is no batch left. */
  async work(): Promise<void> {
    // It is compiled: a loader that whoever started us needs would only be in its way.
    const worker = new Worker(new URL("./worker.js", import.meta.url), { execArgv: [] });
    try {
      for (let batch = this.#take(); batch; batch = this.#take()) {
        const report = await ask(worker, batch);
        this.#reports.set(batch.from, report);
        this.#done += batch.seeds;
        this.#failed += report.failed.length;
        for (const { seed, failure } of report.failed) this.#options.onFailed?.(seed, failure);
        this.#options.onProgress?.(this.#done, this.#failed);
      }
    } finally {
      await worker.terminate();
    }
  }

  #take(): Batch | null {
    const { from, seeds, signal } = this.#options;
    const left = from + seeds - this.#next;
    if (left <= 0 || signal?.aborted) return null;
    const { clients = "lab", workload = "mutex" } = this.#options;
    const batch = { workload, from: this.#next, seeds: Math.min(batchSeeds, left), clients };
    this.#next += batch.seeds;
    return batch;
  }

  report(): Omit<FleetReport, "tookMs"> {
    const reports = [...this.#reports].sort(([a], [b]) => a - b).map(([, report]) => report);
    const hash = new TraceHash();
    const coverage = new Map<string, number>();
    for (const report of reports) {
      for (const each of report.hashes) hash.text(each);
      for (const [cell, times] of report.coverage) coverage.set(cell, (coverage.get(cell) ?? 0) + times);
    }
    const sum = (of: (report: BatchReport) => number): number =>
      reports.reduce((total, report) => total + of(report), 0);
    return {
      seeds: this.#done,
      failed: reports.flatMap(({ failed }) => failed),
      hash: hash.digest,
      progress: sum(({ progress }) => progress),
      deliveries: sum(({ deliveries }) => deliveries),
      virtualMs: sum(({ virtualMs }) => virtualMs),
      coverage,
    };
  }
}

function ask(worker: Worker, batch: Batch): Promise<BatchReport> {
  const over = new AbortController();
  const { signal } = over;
  const ended = once(worker, "exit", { signal }).then(([code]) => {
    throw new Error(`a worker ended with code ${code}`);
  });
  ended.catch(() => {}); // it ends in the end
  const answered = once(worker, "message", { signal }).then(([report]) => report as BatchReport);
  worker.postMessage(batch);
  return Promise.race([answered, ended]).finally(() => over.abort());
}
