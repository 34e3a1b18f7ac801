/**
 * Wire: one connection between a process and a node, as TCP shows it to the two: bytes in order, late, or never. What
 * the network does to it is told to its link (link.ts).
 */
import type { ValkeyConnection, ValkeyPeer } from "@holdfast/embedded";
import type { Node } from "./node.js";
import type { Process } from "./process.js";
import type { Stage } from "./stage.js";

/** What a client does with its end. Called in the turns of its process. */
export interface WireHandlers {
  opened(): void;
  received(bytes: Uint8Array): void;
  /** The other end closed it (null), or it could not be opened, or was reset. Called once, and not after `close()`. */
  closed(error: Error | null): void;
}

export type Direction = "toNode" | "toProcess";

/**
 * When the connection breaks: before the request reaches the node, or after the node has carried it out. Or at once, and
 * the request reaches the node all the same, so much later: somebody on the way had it already.
 */
export type Loss = "before" | "after" | { readonly lateMs: number };

interface Packet {
  readonly chunks: Uint8Array[];
  /** Packets that leave at one time travel together. */
  readonly sentMs: number;
}

/** One direction of one connection. */
export interface Lane {
  /** When the last of what was sent arrives: nothing overtakes it. */
  arrivesMs: number;
}

/** The network that a connection runs over. */
export interface Way {
  readonly stage: Stage;
  readonly process: Process;
  readonly node: Node;
  readonly wires: Set<Wire>;
  /** Sends: `arrive` runs when it is there. What is blocked leaves when the way is free again. */
  carry(direction: Direction, lane: Lane, sentMs: number, arrive: () => void): void;
  /** What is to become of the next request, if it is to be lost. */
  takeLoss(): Loss | undefined;
}

interface PacketLane extends Lane {
  /** The packet that left last, unless it has arrived. */
  last: Packet | null;
  sentMs: number;
}

export class Wire implements ValkeyPeer {
  /** Counts the connections of a world. */
  readonly id: number;
  readonly #way: Way;
  readonly #handlers: WireHandlers;
  readonly #toNode: PacketLane = { last: null, sentMs: 0, arrivesMs: 0 };
  readonly #toProcess: PacketLane = { last: null, sentMs: 0, arrivesMs: 0 };
  #connection: ValkeyConnection | null = null;
  /** Closed by its process, or told to it. */
  #isClosed = false;
  /** The node's end is gone, whether or not the process was told. */
  #isCut = false;
  #isMuted = false;

  constructor(id: number, way: Way, handlers: WireHandlers) {
    this.id = id;
    this.#way = way;
    this.#handlers = handlers;
    way.process.wires.add(this);
    this.#carry("toNode", () => this.#arriveFirst());
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The node still has its end. */
  get isConnected(): boolean {
    return this.#connection !== null && !this.#isCut;
  }

  send(bytes: Uint8Array): void {
    if (this.#isClosed) return;
    const lost = this.#way.takeLoss();
    if (lost === "before") {
      this.cut("connection lost");
      return;
    }
    if (typeof lost === "object") {
      this.#strand(bytes, lost.lateMs);
      this.cut("connection lost");
      return;
    }
    if (lost === "after") {
      this.#transmit("toNode", bytes, () => {
        this.#isMuted = true;
        return () => this.cut("connection lost");
      });
      return;
    }
    this.#transmit("toNode", bytes);
  }

  /** The bytes reach the node when nobody waits for an answer any more. */
  #strand(bytes: Uint8Array, lateMs: number): void {
    const { stage, node, process } = this.#way;
    const arrive = (): void => {
      const connection = node.accept({ receive() {}, closed() {} });
      stage.delivered(this.id, true, bytes);
      connection?.push(node.inspect(bytes));
      connection?.end();
      node.pump();
    };
    // Its process may compute, and be further than the world.
    stage.events.add(process.nowMs + lateMs, arrive, { owner: null, kind: "other", quiet: true });
  }

  /** The process closes its end. The node hears of it when the network tells. */
  close(): void {
    if (this.#isClosed) return;
    this.#forget();
    // The end of a process does not wait behind what it has not sent.
    if (this.#toNode.sentMs > this.#way.process.diedMs) this.#toNode.arrivesMs = 0;
    this.#carry("toNode", () => this.#dropNodeEnd());
  }

  /** Both ends lose it: the node at once, the process when the network tells. */
  cut(reason = "read ECONNRESET"): void {
    this.#dropNodeEnd();
    this.#tellClosed(new Error(reason));
  }

  /** The node's end is gone and the process believes in its own, until it sends something. */
  halfOpen(): void {
    this.#dropNodeEnd();
  }

  // The node's side: called by the engine, which must not be called back at once.

  receive(bytes: Uint8Array): void {
    this.#way.node.overhear(bytes);
    if (!this.#isMuted && !this.#isCut) this.#transmit("toProcess", bytes);
  }

  closed(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    // A node that lost its power tells nobody; whoever writes to it later learns it then.
    if (!this.#way.node.isSilent) this.#tellClosed(null);
  }

  #arriveFirst(): void {
    if (this.#isClosed) return;
    const connection = this.#way.node.accept(this);
    if (!connection) {
      this.#tellClosed(new Error("connect ECONNREFUSED"));
      return;
    }
    this.#connection = connection;
    const arrived = (): void => {
      if (!this.#isClosed) this.#handlers.opened();
    };
    this.#carry("toProcess", arrived);
  }

  /** @param before runs as the bytes arrive; what it returns, after the node has worked on them */
  #transmit(direction: Direction, bytes: Uint8Array, before?: () => () => void): void {
    const lane = direction === "toNode" ? this.#toNode : this.#toProcess;
    const sentMs = direction === "toNode" ? this.#way.process.nowMs : this.#way.node.nowMs;
    if (!before && lane.last?.sentMs === sentMs) {
      lane.last.chunks.push(bytes);
      return;
    }
    const packet: Packet = { chunks: [bytes], sentMs };
    lane.last = before ? null : packet;
    this.#carry(direction, () => {
      if (lane.last === packet) lane.last = null;
      // Code that was ahead of the world when its process died has not come so far.
      if (direction === "toNode" && sentMs > this.#way.process.diedMs) return;
      const { chunks } = packet;
      const all = chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
      this.#way.stage.delivered(this.id, direction === "toNode", all);
      if (direction === "toNode") this.#arriveAtNode(all, before);
      else if (!this.#isClosed) this.#handlers.received(all);
    });
  }

  #arriveAtNode(bytes: Uint8Array, before?: () => () => void): void {
    const connection = this.#connection;
    if (this.#isCut || !connection || connection.isClosed) {
      // The node does not know this connection: whoever writes to it is told.
      if (!this.#way.node.isSilent) this.#tellClosed(new Error("read ECONNRESET"));
      return;
    }
    const after = before?.();
    connection.push(this.#way.node.inspect(bytes));
    this.#way.node.pump();
    after?.();
  }

  #carry(direction: Direction, arrive: () => void): void {
    const lane = direction === "toNode" ? this.#toNode : this.#toProcess;
    const sentMs = direction === "toNode" ? this.#way.process.nowMs : this.#way.node.nowMs;
    lane.sentMs = sentMs;
    this.#way.carry(direction, lane, sentMs, arrive);
  }

  #dropNodeEnd(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    this.#connection?.vanish();
    this.#way.node.pump();
  }

  #tellClosed(error: Error | null): void {
    if (this.#isClosed) return;
    this.#carry("toProcess", () => {
      if (this.#isClosed) return;
      this.#forget();
      this.#handlers.closed(error);
    });
  }

  #forget(): void {
    this.#isClosed = true;
    this.#way.process.wires.delete(this);
    this.#way.wires.delete(this);
  }
}
