/** A thread that tries libraries, with an eye on those that never come to an end. */
import { Worker } from "node:worker_threads";
import { Watchdog } from "./time/watchdog.js";
import type { Kill, Trial, Word } from "./worker.js";

export interface Tried {
  readonly kill: Kill | null;
  /** Of the runs of each seed that showed nothing. */
  readonly hashes: ReadonlyMap<number, string>;
  /** What each came by, where the library reports it. */
  readonly reaches: ReadonlyMap<number, string>;
}

/** A run takes a fraction of a second of a processor; one that takes so long goes round in circles. */
const longestMs = 20_000;
const heapMb = 768;
/** Modules are never unloaded. */
const mostTrials = 60;
/** After these a thread is of no use. */
const ends = ["hang", "crash"];

export class Runner {
  #worker: Worker | null = null;
  #trials = 0;
  readonly #limitMs: number;
  /** What the thread says goes here; it listens from its beginning to its end. */
  #hear: (word: Word | Error) => void = () => {};

  /** @param threads how many of them compute side by side */
  constructor(threads = 1) {
    this.#limitMs = longestMs * threads;
  }

  async try(trial: Trial): Promise<Tried> {
    if (this.#trials >= mostTrials) await this.end();
    this.#trials += 1;
    this.#worker ??= this.#begin();
    const tried = await this.#ask(this.#worker, trial);
    if (tried.kill && ends.includes(tried.kill.property)) await this.end();
    return tried;
  }

  async end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    this.#trials = 0;
    this.#hear = () => {};
    await worker?.terminate();
  }

  #begin(): Worker {
    const worker = new Worker(new URL("./worker.js", import.meta.url), {
      execArgv: [], // no loader of TypeScript, where the command has one
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    const hear = (word: Word | Error): void => {
      if (worker === this.#worker) this.#hear(word);
    };
    worker.on("message", hear);
    worker.on("error", hear);
    worker.on("exit", (code) => hear(new Error(`the thread ended with code ${code}`)));
    return worker;
  }

  #ask(worker: Worker, trial: Trial): Promise<Tried> {
    const hashes = new Map<number, string>();
    const reaches = new Map<number, string>();
    return new Promise((resolve) => {
      const settle = (kill: Omit<Kill, "seed"> | null): void => {
        watchdog.stop();
        resolve({ kill: kill && { ...kill, seed: trial.seeds[hashes.size] ?? 0 }, hashes, reaches });
      };
      const watchdog = new Watchdog(this.#limitMs, () =>
        settle({ property: "hang", message: `not over after ${longestMs / 1_000} s of a processor` }),
      );
      this.#hear = (word) => {
        if (word instanceof Error) settle({ property: "crash", message: word.message });
        else if (word.kind === "over") settle(word.kill);
        else {
          hashes.set(word.seed, word.hash);
          if (word.reach !== undefined) reaches.set(word.seed, word.reach);
          watchdog.feed();
        }
      };
      worker.postMessage(trial);
    });
  }
}
