/** Wires: the ways between one process and its nodes. A fault hurts all of them, or those that a case names. */
import type { Direction, Faults, Kind } from "../network.js";
import type { FaultProxy } from "../proxy.js";
import { type Wire, whenMet } from "../wire.js";

/**
 * Numbers are those of one node: of the busiest for what the client sent, because a case that counts says what is the most; of
 * what a fault holds or drops, the number that a quorum of nodes has reached, because then the lock's request or answer was hit.
 */
export class Wires implements Wire {
  readonly each: readonly FaultProxy[];

  constructor(each: readonly FaultProxy[]) {
    this.each = each;
  }

  /** The way to the node at this place. */
  at(place: number): FaultProxy {
    const wire = this.each[place];
    if (!wire) throw new RangeError(`there is no node ${place}`);
    return wire;
  }

  set(faults: Partial<Faults>, kind?: Kind): void {
    for (const wire of this.each) wire.set(faults, kind);
  }

  heal(): void {
    for (const wire of this.each) wire.heal();
  }

  cut(kind?: Kind): void {
    for (const wire of this.each) wire.cut(kind);
  }

  refuse(): void {
    for (const wire of this.each) wire.refuse();
  }

  strand(): void {
    for (const wire of this.each) wire.strand();
  }

  async deliverStranded(): Promise<void> {
    await Promise.all(this.each.map((wire) => wire.deliverStranded()));
  }

  /** NaN while the nodes differ: a case that waits for a number waits for all of them. */
  get connections(): number {
    const [first = 0, ...others] = this.each.map(({ connections }) => connections);
    return others.every((other) => other === first) ? first : Number.NaN;
  }

  get requests(): readonly (readonly string[])[] {
    return this.#longest(({ requests }) => requests);
  }

  get scriptCalls(): readonly (readonly string[])[] {
    return this.#longest(({ scriptCalls }) => scriptCalls);
  }

  get writes(): number {
    return Math.max(...this.each.map(({ writes }) => writes));
  }

  forget(): void {
    for (const wire of this.each) wire.forget();
  }

  held(direction: Direction, kind?: Kind): number {
    return this.#reached((wire) => wire.held(direction, kind));
  }

  dropped(direction: Direction): number {
    return this.#reached((wire) => wire.dropped(direction));
  }

  when(what: string, condition: () => boolean): Promise<void> {
    return whenMet(what, condition, this.each);
  }

  whenAnswerHeld(): Promise<void> {
    return this.when(
      "an answer that is held back at a quorum of nodes",
      () => this.held("down", "commands") > 0,
    );
  }

  async close(): Promise<void> {
    await Promise.all(this.each.map((wire) => wire.close()));
  }

  #reached(of: (wire: FaultProxy) => number): number {
    const falling = this.each.map(of).sort((one, other) => other - one);
    return falling[Math.floor(falling.length / 2)] as number;
  }

  #longest<Item>(of: (wire: FaultProxy) => readonly Item[]): readonly Item[] {
    return this.each.map(of).reduce((longest, one) => (one.length > longest.length ? one : longest));
  }
}
