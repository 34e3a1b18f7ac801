/**
 * QuorumWatch: looks at every node every now and then, past every fault, and at whom it names. What is asked of a process holds only
 * while nothing has touched it, its network or the node for a while.
 */
import type { Node } from "../../../node.js";
import { planned } from "../../scene.js";
import type { Beliefs } from "../mutex/beliefs.js";
import { holderAt } from "../mutex/node-state.js";
import type { LockScene } from "../mutex/plan.js";
import { isSeatOf } from "./quorum.js";
import type { Soundness } from "./soundness.js";

/** What takes a few round trips, and a retry. */
const soonMs = 500;
/** A seat that has no majority is given up after a third of its ttl, and a fifth of that more or less. */
const minorityShare = 0.4;
/** By then what the dead had sent has arrived. */
const hangingMs = 1_500;

interface Seat {
  readonly id: string;
  /** When its process was last seen to know of it. */
  knownMs: number;
  /** When it was last seen to be one of a majority. */
  majorityMs: number;
}

export class QuorumWatch {
  readonly #scene: LockScene;
  readonly #beliefs: Beliefs;
  readonly #soundness: Soundness;
  readonly #seats = new Map<string, Seat>();

  constructor(scene: LockScene, beliefs: Beliefs, soundness: Soundness) {
    this.#scene = scene;
    this.#beliefs = beliefs;
    this.#soundness = soundness;
  }

  look(): void {
    for (const lock of this.#scene.plan.locks) for (const node of this.#scene.nodes) this.#look(lock, node);
  }

  #look(lock: string, node: Node): void {
    const place = `${node.name} ${lock}`;
    const holder = node.isUp ? holderAt(node, lock) : null;
    if (!holder) {
      this.#seats.delete(place);
      return;
    }
    const { nowMs } = this.#scene.world;
    let seat = this.#seats.get(place);
    if (seat?.id !== holder.id) {
      seat = { id: holder.id, knownMs: nowMs, majorityMs: nowMs };
      this.#seats.set(place, seat);
    }
    const process = this.#scene.world.processes.get(holder.process);
    if (!process) return;
    if (process.state === "dead") {
      this.#judgeDead(lock, node, holder.process);
      return;
    }
    const isBelieved = this.#beliefs.of(process, lock).some(({ lease }) => isSeatOf(holder.id, lease.id));
    const isAsked = this.#beliefs.isAsking(lock, process);
    seat.knownMs =
      isBelieved || isAsked ? nowMs : Math.max(seat.knownMs, this.#beliefs.endedMs(claimOf(seat.id)));
    if (isBelieved || !this.#isMinority(lock, seat.id)) seat.majorityMs = nowMs;
    const plan = this.#scene.lives.get(planned(process.name))?.plan;
    // A lease that ran out is left to run out at the nodes, where its holder wants a delay.
    if (!plan || plan.lockDelayMs > 0) return;
    if (!this.#soundness.isProcess(process) || !this.#soundness.isNode(process, node)) return;
    if (nowMs - seat.knownMs > soonMs + plan.callTimeoutMs + plan.lingerMs)
      this.#scene.fail(
        "L9",
        `${node.name} holds "${lock}" for ${process.name} by ${seat.id}, which nobody there knows of`,
      );
    const aloneMs = plan.ttlMs * minorityShare + soonMs;
    if (isAsked && nowMs - seat.majorityMs > aloneMs)
      this.#scene.fail(
        "K2",
        `${process.name} keeps "${lock}" at ${node.name} by ${seat.id}, and has no majority`,
      );
  }

  #isMinority(lock: string, id: string): boolean {
    const claim = claimOf(id);
    const { nodes, quorum } = this.#scene;
    const seats = nodes.filter((node) => {
      const other = node.isUp ? holderAt(node, lock)?.id : undefined;
      return other !== undefined && claimOf(other) === claim;
    });
    return seats.length < quorum;
  }

  /** W1: what the dead held is free when its ttl, and what they had wished for beyond it, is over. */
  #judgeDead(lock: string, node: Node, name: string): void {
    const { deathsMs, keptMs, mayBeSetBack, world } = this.#scene;
    const diedMs = deathsMs.get(name);
    const afterMs = keptMs + hangingMs;
    if (diedMs === undefined || mayBeSetBack || diedMs + afterMs > world.nowMs) return;
    const times = { fromMs: world.nowMs - afterMs, toMs: world.nowMs };
    const process = planned(name);
    // What it had sent into a network that was down arrives when that is up again.
    const isHeardOut =
      this.#soundness.wasProcess(process, times) && this.#soundness.wasLink(process, node, times);
    if (isHeardOut && this.#soundness.wasNode(node, times))
      this.#scene.fail("W1", `${node.name} holds "${lock}" for ${name}, dead for ${world.nowMs - diedMs} ms`);
  }
}

function claimOf(id: string): string {
  return id.split(".", 1)[0] ?? id;
}
