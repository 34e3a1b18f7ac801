/**
 * Leaves: the requests by which a process gives up its free places. The answer has everything that was given to the process, so that
 * gifts and replies that were lost are found. It knows which of that the process has, or had.
 */
import { BoundedMap } from "../bounded-map.js";
import type { HoldfastError } from "../errors.js";
import { UnderWay } from "../time/under-way.js";
import type { Given, ParcelScripts } from "./delivery-scripts.js";
import type { Lasting } from "./lasting.js";

/** The exchange, as its leaves use it. */
export interface LeavesHome {
  /** The deliveries that this process has, also those that are being settled, and those whose bodies are under way. */
  held(): readonly { readonly handle: string }[];
  /** Messages that were given to this process, and that it has never seen. */
  found(given: readonly Given[]): void;
  leaveFailed(error: HoldfastError): void;
}

const REMEMBERED = 4_096;

export class Leaves {
  readonly #home: LeavesHome;
  readonly #parcels: ParcelScripts;
  readonly #lasting: Pick<Lasting, "spent">;
  /** For each request under way the handles that came before its answer. */
  readonly #underWay = new Set<Set<string>>();
  readonly #sent = new UnderWay();
  #next: { readonly promise: Promise<void>; readonly resolve: () => void } | null = null;

  constructor(parcels: ParcelScripts, lasting: Pick<Lasting, "spent">, home: LeavesHome) {
    this.#home = home;
    this.#parcels = parcels;
    this.#lasting = lasting;
  }

  /** Resolves when the next request is over, with an answer or without. */
  next(): Promise<void> {
    if (!this.#next) {
      let resolve = (): void => {};
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      this.#next = { promise, resolve };
    }
    return this.#next.promise;
  }

  /** Sends the next request, if somebody waits for one. */
  flush(): void {
    const next = this.#next;
    this.#next = null;
    if (next) this.#sent.add(this.#send().then(next.resolve));
  }

  /** Resolves when the requests that are under way now are over. */
  settled(): Promise<void> {
    return this.#sent.settled();
  }

  /** Whether a message with this handle, which has just come, is a first copy. */
  isNew(handle: string): boolean {
    for (const seen of this.#underWay) seen.add(handle);
    return !this.#isSpent(handle);
  }

  spend(handle: string): void {
    this.#lasting.spent ??= new BoundedMap(REMEMBERED);
    this.#lasting.spent.set(handle, true);
  }

  get isIdle(): boolean {
    return this.#next === null && this.#underWay.size === 0;
  }

  #isSpent(handle: string): boolean {
    return this.#lasting.spent?.get(handle) === true;
  }

  async #send(): Promise<void> {
    const seen = new Set(this.#home.held().map(({ handle }) => handle));
    this.#underWay.add(seen);
    try {
      const isKnown = (handle: string): boolean => seen.has(handle) || this.#isSpent(handle);
      const lost = (await this.#parcels.leave(isKnown)).filter(({ handle }) => !isKnown(handle));
      // Its gift may be late, and not lost.
      for (const { handle } of lost) this.spend(handle);
      if (lost.length > 0) this.#home.found(lost);
    } catch (error) {
      this.#home.leaveFailed(error as HoldfastError);
    }
    this.#underWay.delete(seen);
  }
}
