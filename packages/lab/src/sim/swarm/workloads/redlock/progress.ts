/**
 * Progress (K1): while those who want a lock reach a majority of nodes that votes, somebody gets it in bounded time; and nobody who
 * reaches one hears that there is none. They need not reach the same one.
 */
import type { Operation } from "../../../../history/operation.js";
import type { Process } from "../../../process.js";
import { planned } from "../../scene.js";
import type { Beliefs } from "../mutex/beliefs.js";
import type { LockScene } from "../mutex/plan.js";
import type { Soundness } from "./soundness.js";

/** Beyond the leases of the dead: some heartbeats of a wait, and seats that are given up in turn. */
const settleMs = 1_500;

export class Progress {
  readonly #scene: LockScene;
  readonly #beliefs: Beliefs;
  readonly #soundness: Soundness;
  /** Since when somebody waits for a lock that nobody has, and nothing is in the way. */
  readonly #idleSinceMs = new Map<string, number>();

  constructor(scene: LockScene, beliefs: Beliefs, soundness: Soundness) {
    this.#scene = scene;
    this.#beliefs = beliefs;
    this.#soundness = soundness;
  }

  look(): void {
    const { plan, world, maxTtlMs } = this.#scene;
    const alive = this.#alive();
    const wants = (lock: string): boolean => this.#beliefs.asking(lock) > 0 && !this.#beliefs.isHeld(lock);
    const isServed = alive.every((process) => this.#isServed(process));
    for (const lock of plan.locks) {
      // The lease of a holder that died, and then that of a waiter that died.
      this.#judgeIdle(`all who want "${lock}" reach`, isServed && wants(lock), 2 * maxTtlMs + settleMs);
      // Each of the others may be granted nodes that it can't use, or can't give back, and die, and be granted them again.
      const isOneServed = alive.some(
        (process) => this.#beliefs.isAsking(lock, process) && this.#isServed(process),
      );
      const inTurnMs = (2 * world.processes.size + 1) * maxTtlMs + settleMs;
      this.#judgeIdle(`one that wants "${lock}" reaches`, isOneServed && wants(lock), inTurnMs);
    }
  }

  #judgeIdle(who: string, isIdle: boolean, withinMs: number): void {
    if (!isIdle) {
      this.#idleSinceMs.delete(who);
      return;
    }
    const { nowMs } = this.#scene.world;
    const sinceMs = this.#idleSinceMs.get(who) ?? nowMs;
    this.#idleSinceMs.set(who, sinceMs);
    if (nowMs - sinceMs <= withinMs) return;
    this.#scene.fail("K1", `${who} a majority that votes, and nobody has it for ${withinMs} ms`);
    this.#idleSinceMs.set(who, nowMs);
  }

  /** Adds what was wrong with the answers. Call it when the run is over. */
  judge(): void {
    for (const operation of this.#scene.history.operations) {
      const { f, error, process, key, invMs, retMs } = operation;
      if (f !== "acquire" || error !== "NO_QUORUM" || retMs === null) continue;
      if (this.#wasServed(operation))
        this.#scene.fail(
          "K1",
          `${process} was told that "${key}" has no majority, which it had from ${invMs} to ${retMs}`,
          retMs,
          [operation],
        );
    }
  }

  #wasServed({ process: caller, invMs, retMs }: Operation): boolean {
    const process = planned(caller);
    const times = { fromMs: invMs, toMs: retMs ?? invMs };
    if (this.#soundness.wereVotes(process, times) < this.#scene.quorum) return false;
    const life = this.#scene.world.processes.get(caller.slice(0, caller.lastIndexOf(".")));
    const bornMs = life?.bornMs ?? 0;
    const wokenMs = life?.wokenMs ?? 0;
    // A client that queues nothing says so until it has its first connections.
    const isReady =
      times.fromMs > bornMs + connectedMs && (wokenMs < times.fromMs - connectedMs || wokenMs > times.toMs);
    return isReady && this.#soundness.wasProcess(process, { ...times, fromMs: times.fromMs - connectedMs });
  }

  #alive(): readonly Process[] {
    return [...this.#scene.lives.values()]
      .map(({ process }) => process)
      .filter((process) => process.state !== "dead" && !this.#scene.finished.has(process.name));
  }

  /** It works, and reaches a majority that votes. */
  #isServed(process: Process): boolean {
    const { nodes, quorum } = this.#scene;
    if (!this.#soundness.isProcess(process)) return false;
    return nodes.filter((node) => this.#soundness.isNode(process, node)).length >= quorum;
  }
}

/** By then a process is connected. */
const connectedMs = 3_000;
