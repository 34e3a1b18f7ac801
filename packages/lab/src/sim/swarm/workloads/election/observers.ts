/** Observers: what processes see of who leads. */
import { ClosedError, type Election, type Leader, type Leadership } from "holdfast";
import type { Process } from "../../../process.js";
import type { Caller, Scene } from "../../workload.js";

interface Observer {
  readonly name: string;
  readonly process: Process;
  /** True time at which it last began. */
  sinceMs: number;
  seen: Leader<string> | null | undefined;
}

const againMs = 200;

export class Observers {
  readonly #scene: Scene;
  readonly #all = new Set<Observer>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  /** Observes until the caller's Holdfast is closed. */
  async follow(caller: Caller, election: Pick<Election<string>, "observe">): Promise<void> {
    const { name, process } = caller;
    const observer: Observer = { name, process, sinceMs: process.nowMs, seen: undefined };
    this.#all.add(observer);
    for (;;) {
      try {
        for await (const leader of election.observe({ signal: caller.endOfStream() })) observer.seen = leader;
      } catch (error) {
        if (error instanceof ClosedError) break;
      }
      // A refusal that will not pass ends the stream.
      await process.sleep(againMs);
      observer.sinceMs = process.nowMs;
    }
    this.#all.delete(observer);
  }

  /** E4: somebody has led for that time, and no fault was left. */
  judge({ term }: Leadership, forMs: number): void {
    for (const { name, process, sinceMs, seen } of this.#all) {
      const hadTime = process.isAwake && process.nowMs - Math.max(sinceMs, process.wokenMs) >= forMs;
      if (!hadTime || seen?.term === term) continue;
      const what = seen === undefined ? "nothing" : seen ? `a leader of term ${seen.term}` : "nobody";
      this.#scene.fail("E4", `term ${term} has lasted for ${forMs} ms, and ${name} sees ${what}`);
    }
  }

  /** E4: nobody has led for that time. */
  judgeNobody(forMs: number): void {
    for (const { name, process, sinceMs, seen } of this.#all) {
      const hadTime = process.isAwake && process.nowMs - Math.max(sinceMs, process.wokenMs) >= forMs;
      if (hadTime && seen)
        this.#scene.fail("E4", `nobody leads for ${forMs} ms, and ${name} sees ${seen.term}`);
    }
  }
}
