/**
 * Link: the network between one process and one node. Each connection over it keeps its order; connections overtake
 * each other, because every packet draws its own delay.
 */
import type { Dice } from "../chance/dice.js";
import type { Node } from "./node.js";
import type { Process } from "./process.js";
import type { Stage } from "./stage.js";
import { type Direction, type Lane, type Loss, type Way, Wire, type WireHandlers } from "./wire.js";

export interface LinkOptions {
  /** Shortest and longest time of a packet on its way. @default 0.1 and 1.5 */
  readonly delayMs?: readonly [shortest: number, longest: number];
}

/** A share of the packets that takes longer. */
export interface Spikes {
  readonly share: number;
  readonly delayMs: readonly [shortest: number, longest: number];
}

const usualDelayMs = [0.1, 1.5] as const;

export class Link implements Way {
  readonly stage: Stage;
  readonly process: Process;
  readonly node: Node;
  readonly wires = new Set<Wire>();
  delayMs: readonly [shortest: number, longest: number];
  spikes: Spikes | null = null;
  /** Where connections for messages go that begin now; null: over this one. */
  messagesOver: Link | null = null;
  /** What the process has sent so far. */
  packets = 0;
  /** What has reached it so far. */
  heard = 0;
  readonly #dice: Dice;
  readonly #blocked: Record<Direction, (() => void)[] | null> = { toNode: null, toProcess: null };
  readonly #losses: Loss[] = [];
  readonly #usualDelayMs: readonly [shortest: number, longest: number];

  /** Made by `world.link(process, node)`. */
  constructor(stage: Stage, process: Process, node: Node, { delayMs = usualDelayMs }: LinkOptions = {}) {
    this.stage = stage;
    this.process = process;
    this.node = node;
    this.delayMs = delayMs;
    this.#usualDelayMs = delayMs;
    this.#dice = this.stage.dice(`link ${process.name} ${node.name}`);
  }

  /** Nothing is wrong with it. */
  get isSound(): boolean {
    const { toNode, toProcess } = this.#blocked;
    return !toNode && !toProcess && this.#losses.length === 0 && this.spikes === null;
  }

  connect(handlers: WireHandlers): Wire {
    const wire = new Wire(this.stage.nextWireId(), this, handlers);
    this.wires.add(wire);
    return wire;
  }

  /** Nothing gets through in this direction. What is sent arrives after `unblock`, as TCP sends it again. */
  block(direction: Direction): void {
    this.#blocked[direction] ??= [];
  }

  unblock(direction: Direction): void {
    const waiting = this.#blocked[direction];
    this.#blocked[direction] = null;
    for (const send of waiting ?? []) send();
  }

  /** The next request is lost together with its connection; or its answer is. */
  loseNext(loss: Loss): void {
    this.#losses.push(loss);
  }

  takeLoss(): Loss | undefined {
    return this.#losses.shift();
  }

  /** No fault is left in it. */
  heal(): void {
    this.#losses.length = 0;
    this.spikes = null;
    this.delayMs = this.#usualDelayMs;
    this.unblock("toNode");
    this.unblock("toProcess");
  }

  /** Breaks every connection. */
  cut(): void {
    for (const wire of [...this.wires]) wire.cut();
  }

  /** The node's ends of all connections are gone, and nobody tells the process. */
  halfOpen(): void {
    for (const wire of this.wires) wire.halfOpen();
  }

  /** Sends: `arrive` runs when it is there. What is blocked leaves when the way is free again. */
  carry(direction: Direction, lane: Lane, sentMs: number, arrive: () => void): void {
    if (direction === "toNode") this.packets += 1;
    const waiting = this.#blocked[direction];
    if (!waiting) {
      this.#set(direction, lane, sentMs, arrive);
      return;
    }
    waiting.push(() => {
      // A machine without power sends nothing again. What is sent later, the network sends in its name.
      const { hasVanished, diedMs } = this.process;
      if (direction === "toNode" && hasVanished && sentMs <= diedMs) return;
      this.#set(direction, lane, Math.max(sentMs, this.stage.nowMs), arrive);
    });
  }

  #set(direction: Direction, lane: Lane, sentMs: number, arrive: () => void): void {
    const [shortest, longest] = this.#isSpike() ? (this.spikes as Spikes).delayMs : this.delayMs;
    lane.arrivesMs = Math.max(lane.arrivesMs, sentMs + this.#dice.between(shortest, longest));
    const isForNode = direction === "toNode";
    const about = { owner: isForNode ? null : this.process, kind: "input", quiet: isForNode } as const;
    const arrived = (): void => {
      if (!isForNode) this.heard += 1;
      arrive();
    };
    this.stage.events.add(lane.arrivesMs, arrived, about);
  }

  #isSpike(): boolean {
    return this.spikes !== null && this.#dice.chance(this.spikes.share);
  }
}
