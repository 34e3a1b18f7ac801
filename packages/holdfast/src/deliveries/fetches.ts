/** Fetches: bodies that were too large for a message. Those of one turn of the event loop come by one request. */
import type { HoldfastError } from "../errors.js";
import { UnderWay } from "../time/under-way.js";
import type { Given, ParcelScripts } from "./delivery-scripts.js";
import type { FirstLease } from "./exchange-home.js";

/** The exchange, as its fetches use it. */
export interface FetchesHome {
  arrived(given: readonly Given[], lease: FirstLease): void;
  /** They come again when their first leases are over. */
  troubled(error: HoldfastError): void;
  /** Places are free again: of what was over by then, and of what comes again. */
  plan(): void;
}

export class Fetches {
  readonly #home: FetchesHome;
  readonly #parcels: ParcelScripts;
  /** Also those whose request is under way. */
  readonly #wanted = new Map<string, FirstLease>();
  readonly #underWay = new UnderWay();
  #next: string[] = [];

  constructor(parcels: ParcelScripts, home: FetchesHome) {
    this.#home = home;
    this.#parcels = parcels;
  }

  get size(): number {
    return this.#wanted.size;
  }

  get handles(): { readonly handle: string }[] {
    return [...this.#wanted.keys()].map((handle) => ({ handle }));
  }

  add(handle: string, lease: FirstLease): void {
    this.#wanted.set(handle, lease);
    if (this.#next.push(handle) === 1) this.#underWay.add(Promise.resolve().then(() => this.#fetch()));
  }

  /** Resolves when the bodies that are wanted now have come, or nobody can tell. */
  settled(): Promise<void> {
    return this.#underWay.settled();
  }

  async #fetch(): Promise<void> {
    const handles = this.#next;
    this.#next = [];
    let given: readonly Given[] = [];
    try {
      given = await this.#parcels.fetch(handles);
    } catch (error) {
      this.#home.troubled(error as HoldfastError);
    }
    for (const one of given) {
      const lease = this.#wanted.get(one.handle);
      this.#wanted.delete(one.handle);
      if (lease) this.#home.arrived([one], lease);
    }
    for (const handle of handles) this.#wanted.delete(handle);
    this.#home.plan();
  }
}
