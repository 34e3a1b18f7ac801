/**
 * NodeWatch: looks at the node every now and then, past every fault, and at what it says of who holds and who waits. What
 * is asked of a process holds only while nothing has touched it, its network or the node for a while.
 */
import { parseLock, parseProcess, parseWaiter } from "holdfast/locks/redis";
import type { Process } from "../../../process.js";
import { planned } from "../../scene.js";
import { judgePlaces, misplacedInLine } from "../places.js";
import type { Beliefs } from "./beliefs.js";
import { keysOf, toHolder } from "./node-state.js";
import type { LockScene } from "./plan.js";

const everyMs = 250;
/** At the keys only every so often. */
const keysEvery = 3;
/** By then after a fault every connection is back, and what was missed is known. */
const soundMs = 3_000;
/** What takes a few round trips, and a retry. */
const soonMs = 400;
/** By then what the dead had sent has arrived. */
const hangingMs = 1_500;
/** After it stood still a process has served what had waited for it. */
const awakeMs = 500;
/** By then a subscription that is gone without a word is noticed. */
const deafMs = 12_000;
/** Between two signs of life of a waiter, as a share of its ttl. */
const beatShare = 0.4;

interface Waiter {
  readonly id: string;
  readonly process: string;
  readonly ttlMs: number;
  /** When the node last heard of it. */
  readonly heardMs: number;
  /** Since when it is seen in line. */
  readonly sinceMs: number;
}

/** The first in line. */
interface First extends Waiter {
  /** Since when it is seen there. */
  readonly firstMs: number;
}

/** What the node says of one lock. */
interface Look {
  readonly atMs: number;
  /** What had been delivered in the world by then. */
  readonly deliveries: number;
  /** Who is named, whether or not the lease is over; null: nobody. */
  readonly id: string | null;
  readonly process: string | null;
  /** Since when it has named him. */
  readonly sinceMs: number;
  /** Not above 0: the lease is over. */
  readonly leftMs: number;
  readonly ttlMs: number;
  /** When it was last seen to last longer than its ttl. */
  readonly astrayMs: number;
  /** Those in line whom the node does not take for dead, in its order. */
  readonly line: readonly Waiter[];
  readonly first: First | null;
  /** Since when the lock is free and somebody waits. */
  readonly idleSinceMs: number | null;
}

export class NodeWatch {
  readonly #scene: LockScene;
  readonly #beliefs: Beliefs;
  readonly #looks = new Map<string, Look>();
  #isOver = false;
  #looksTaken = 0;

  constructor(scene: LockScene, beliefs: Beliefs) {
    this.#scene = scene;
    this.#beliefs = beliefs;
    this.#again();
  }

  stop(): void {
    this.#isOver = true;
  }

  #again(): void {
    const { world } = this.#scene;
    world.at(world.nowMs + everyMs, () => {
      if (this.#isOver) return;
      if (this.#scene.node.isUp) for (const lock of this.#scene.plan.locks) this.#look(lock);
      this.#again();
    });
  }

  #look(lock: string): void {
    const { node, world } = this.#scene;
    const keys = keysOf(lock);
    const before = this.#looks.get(lock);
    // Nobody held it, nobody waited, and nothing has been said since.
    if (before && before.id === null && before.line.length === 0 && before.deliveries === world.deliveries)
      return;
    const [state, expiryMs, ids] = node.peekAll(
      ["GET", keys.lock],
      ["PTTL", keys.lock],
      ["ZRANGE", keys.line, "0", "-1"],
    );
    judgePlaces(this.#scene, "F3", () => {
      const isFlagged = typeof state === "string" && parseLock(state)?.crowded === true;
      return misplacedInLine(node, keys, isFlagged);
    });
    const inLine = Array.isArray(ids) ? ids.map(String) : [];
    const line = inLine.flatMap((id) => this.#waiter(lock, id, before) ?? []);
    const named = toHolder(state, expiryMs);
    const leftMs = named?.leftMs ?? 0;
    const isSame = named !== null && before?.id === named.id;
    const look: Look = {
      atMs: world.nowMs,
      deliveries: world.deliveries,
      id: named?.id ?? null,
      process: named?.process ?? null,
      sinceMs: isSame ? before.sinceMs : world.nowMs,
      leftMs,
      ttlMs: named?.ttlMs ?? 0,
      astrayMs: leftMs > (named?.ttlMs ?? 0) ? world.nowMs : isSame ? before.astrayMs : -Infinity,
      line,
      first: this.#first(line, inLine, before),
      idleSinceMs: line.length > 0 && leftMs <= 0 ? (before?.idleSinceMs ?? world.nowMs) : null,
    };
    this.#looks.set(lock, look);
    this.#judge(lock, look, before);
    this.#looksTaken += 1;
    if (this.#looksTaken % keysEvery !== 0) return;
    const names: string[] = Object.values(keys);
    const expiries = node.peekAll(...names.map((name) => ["PTTL", name]));
    for (const [place, name] of names.entries())
      if (expiries[place] === -1) this.#scene.fail("P2", `the key ${name} never expires`);
  }

  #first([waiter]: readonly Waiter[], [id]: readonly string[], before: Look | undefined): First | null {
    if (!waiter || waiter.id !== id) return null;
    const firstMs = before?.first?.id === id ? before.first.firstMs : this.#scene.world.nowMs;
    return { ...waiter, firstMs };
  }

  #waiter(lock: string, id: string, before: Look | undefined): Waiter | null {
    const { node, world } = this.#scene;
    const entry = node.peek("HGET", keysOf(lock).waiters, id);
    const waiter = typeof entry === "string" ? parseWaiter(entry) : null;
    if (!waiter) return null;
    const silentMs = node.valkey.clock.realUs() / 1_000 - waiter.seenMs;
    // A waiter that gives no sign of life leaves the line when its turn comes. One that was last heard of in the future, by
    // a clock that was set back since, may have left it long ago: a replica that lagged brings its place back.
    if (silentMs > waiter.ttlMs || silentMs < 0) return null;
    const sinceMs = before?.line.find((one) => one.id === id)?.sinceMs ?? world.nowMs;
    const process = parseProcess(waiter.owner)?.label ?? "";
    return { id, process, ttlMs: waiter.ttlMs, heardMs: world.nowMs - silentMs, sinceMs };
  }

  #judge(lock: string, look: Look, before: Look | undefined): void {
    const { id, process, atMs, leftMs, first } = look;
    if (id !== null && process !== null && leftMs > 0) {
      const inLine = this.#scene.node.peek("ZSCORE", keysOf(lock).line, id);
      // What was lost, or fell back to what it was, stands in disorder until it has run out.
      if (inLine !== null && inLine !== undefined && this.#isNodeSound)
        this.#scene.fail("F1", `${process} holds "${lock}", and waits for it by the same request`);
      this.#judgeOrphan(lock, look, id, process);
      this.#judgeDead(lock, look, process);
      if (before && before.id !== id) this.#judgeGrant(lock, look, before, process);
    }
    if (look.idleSinceMs !== null) this.#judgeFree(lock, look, look.idleSinceMs);
    if (!first || !this.#isSound(first.process)) return;
    const knowsMs = first.ttlMs * beatShare + soonMs;
    if (atMs - first.firstMs < knowsMs) return;
    const tooLongMs = leftMs - look.ttlMs;
    if (tooLongMs > everyMs && atMs - look.sinceMs > knowsMs)
      this.#scene.fail(
        "W1",
        `"${lock}" is held for ${tooLongMs} ms more than its ttl, and ${first.process} waits`,
      );
  }

  /**
   * Each waiter asks when the lease is over of which it was told, in whatever place, and the first question gives the lock to the first
   * waiter that lives. The server tells the first in line of each lease. Another waiter may learn of it by its next sign of life only.
   */
  #judgeFree(lock: string, { atMs, sinceMs, line, first }: Look, idleSinceMs: number): void {
    for (const waiter of line) {
      const { id, process, ttlMs, heardMs } = waiter;
      const isFirst = id === first?.id;
      const knowsMs = isFirst || heardMs > sinceMs ? 0 : ttlMs * beatShare;
      const fromMs = Math.max(idleSinceMs, isFirst ? first.firstMs : waiter.sinceMs);
      if (atMs - fromMs <= knowsMs + soonMs || !this.#isSound(process)) continue;
      const place = isFirst ? "first in line" : "in line behind others";
      this.#scene.fail("W1", `${process} is ${place} for "${lock}", which is free`);
    }
  }

  /** L9: who holds knows it, or gives it back. */
  #judgeOrphan(lock: string, { atMs, sinceMs }: Look, id: string, name: string): void {
    const process = this.#scene.world.processes.get(name);
    const plan = this.#scene.lives.get(planned(name))?.plan;
    // A lease that ran out is left to run out at the node, where its holder wants a delay.
    // And who takes two holds the first while he waits for the second.
    if (!process || !plan || plan.lockDelayMs > 0 || plan.takesPairs) return;
    const believed = this.#beliefs.of(process, lock).some(({ lease }) => lease.id === id);
    const lastMs = believed ? atMs : Math.max(sinceMs, this.#beliefs.endedMs(id));
    // A node that fell back to what it was names who held it then.
    if (this.#isNodeSound && atMs - lastMs > soonMs + plan.lingerMs && this.#isSound(name))
      this.#scene.fail(
        "L9",
        `the node says that ${name} holds "${lock}" by ${id}, and nobody there knows of it`,
      );
  }

  /**
   * What the dead held is free when its ttl, and what they had wished for beyond it, is over. A clock that was set back
   * lengthens a lease until somebody asks for the lock: a ttl later it is free.
   */
  #judgeDead(lock: string, { atMs, leftMs, ttlMs, astrayMs }: Look, name: string): void {
    if (this.#scene.mayBeSetBack && atMs - astrayMs < ttlMs + everyMs) return;
    const diedMs = this.#scene.deathsMs.get(name);
    const keptMs = this.#scene.keptMs + hangingMs;
    if (diedMs === undefined || diedMs + keptMs > atMs) return;
    if (this.#isQuiet(keptMs, planned(name)))
      this.#scene.fail(
        "W1",
        `"${lock}" is held by ${name}, dead for ${atMs - diedMs} ms, for another ${leftMs}`,
      );
  }

  #judgeGrant(lock: string, look: Look, before: Look, name: string): void {
    const { deathsMs } = this.#scene;
    const diedMs = deathsMs.get(name);
    const isHeardOut = this.#isQuiet(hangingMs, planned(name));
    if (
      diedMs !== undefined &&
      this.#isNodeSound &&
      isHeardOut &&
      diedMs + this.#scene.keptMs + soonMs < before.atMs
    )
      this.#scene.fail(
        "W1",
        `"${lock}" was granted to ${name}, which had died ${(look.atMs - diedMs).toFixed(0)} ms before`,
      );
    const holder = this.#scene.world.processes.get(name);
    const isDeaf = holder?.state === "dead" && holder.wires.size === 0;
    if (diedMs !== undefined && this.#isNodeSound && isDeaf && isHeardOut && diedMs + hangingMs < before.atMs)
      this.#scene.fail("W1", `"${lock}" was granted to ${name}, whose connections had closed`);
    // Who stood first, and still does, was passed over.
    const { first } = before;
    const wasPassed = first !== null && first.id !== look.id && first.id === look.first?.id;
    if (!wasPassed || look.atMs - first.firstMs <= soonMs) return;
    // One that was taken for dead goes back to the place that it had before.
    if (!this.#askedAfter(first.firstMs, look.id)) return;
    // Nor is one passed over who cannot be told, and does not know that yet.
    if (this.#isSound(first.process) && this.#isQuiet(deafMs, planned(first.process)))
      this.#scene.fail("F1", `"${lock}" was granted to ${name}, while ${first.process} was first in line`);
  }

  /** Whether whoever was granted this began to ask later, as far as is known. */
  #askedAfter(atMs: number, id: string | null): boolean {
    const asked = this.#scene.history.operations.filter(({ f, nonce }) => f === "acquire" && nonce === id);
    return asked.length > 0 && asked.every(({ invMs }) => invMs > atMs);
  }

  /** What the node lost, or fell back to, has run out. */
  get #isNodeSound(): boolean {
    return this.#isQuiet(this.#scene.keptMs + soundMs, null);
  }

  /** Nothing has touched this process, its network or the node for a while. */
  #isSound(name: string): boolean {
    const process: Process | undefined = this.#scene.world.processes.get(name);
    if (!process?.isAwake || this.#scene.world.nowMs - process.wokenMs < awakeMs) return false;
    // The plan says when this fault begins to wait for a look at the clock, and not when it strikes.
    if (this.#scene.world.nowMs - process.stalledMs < soundMs) return false;
    const life = this.#scene.lives.get(planned(name));
    if (life?.process !== process || this.#scene.finished.has(name)) return false;
    return this.#scene.link(process).isSound && this.#isQuiet(soundMs, planned(name));
  }

  /** No fault of the node, nor of this process, within the last `forMs`. */
  #isQuiet(forMs: number, process: string | null): boolean {
    const { plan, node, world } = this.#scene;
    return plan.faults.every(
      ({ target, atMs, forMs: lastsMs }) =>
        (target !== node.name && target !== process) ||
        atMs > world.nowMs ||
        atMs + lastsMs + forMs < world.nowMs,
    );
  }
}
