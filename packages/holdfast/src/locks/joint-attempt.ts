/**
 * JointAttempt: one attempt at several lines. Their claims go to the store together. Where the store cannot take them together, it
 * makes one attempt for each, in order, and stops at the first that is not free.
 */
import type { HoldfastError } from "../errors.js";
import type { Grant } from "../lease/hold.js";
import { type Attempt, NOT_ASKED } from "./attempts.js";
import type { Busy, BusyPart, LockBackend, StoreClaim } from "./backend.js";

interface Joined {
  readonly claim: StoreClaim;
  readonly resolve: (outcome: Grant | Busy) => void;
  readonly reject: (error: unknown) => void;
}

export class JointAttempt {
  readonly #backend: Pick<LockBackend, "takeAll">;
  readonly #joined: Joined[] = [];
  /** The place, among those that take part, of the first line that was not free. */
  busyAt: number | null = null;

  constructor(backend: Pick<LockBackend, "takeAll">) {
    this.#backend = backend;
  }

  /** For a line that makes its attempt together with others. It resolves after `send`. */
  readonly attempt: Attempt = (claim) =>
    new Promise((resolve, reject) => this.#joined.push({ claim, resolve, reject }));

  /** The number of lines that take part. A line in which callers of this process are before takes no part. */
  get size(): number {
    return this.#joined.length;
  }

  /** The error for a caller whose time is up, if nothing was sent; null: something was. */
  unsent(): HoldfastError | null {
    return this.#joined[0]?.claim.unsent?.() ?? null;
  }

  /** Gives up before anything is sent. */
  cancel(): void {
    endFrom(this.#joined);
  }

  async send(): Promise<void> {
    const joined = this.#joined;
    try {
      const taken = await (this.#backend.takeAll?.(joined.map(({ claim }) => claim)) ?? null);
      if (taken === null) await this.#sendInTurn();
      else if ("place" in taken) this.#refuse(taken);
      else for (const [place, { resolve }] of joined.entries()) resolve(taken[place] ?? NOT_ASKED);
    } catch (error) {
      for (const { reject } of joined) reject(error);
    }
  }

  async #sendInTurn(): Promise<void> {
    for (const [place, { claim, resolve, reject }] of this.#joined.entries()) {
      const outcome = await claim.attempt().catch((error: unknown) => {
        reject(error);
        return null;
      });
      if (outcome) resolve(outcome);
      if (outcome && "token" in outcome) continue;
      if (outcome) this.busyAt = place;
      endFrom(this.#joined.slice(place + 1));
      return;
    }
  }

  /** The store has ended the claims. */
  #refuse(part: BusyPart): void {
    this.busyAt = part.place;
    for (const [place, { resolve }] of this.#joined.entries())
      resolve(place === part.place ? part.busy : NOT_ASKED);
  }
}

/** Ends claims of which nothing was sent. */
function endFrom(joined: readonly Joined[]): void {
  for (const { claim, resolve } of joined) {
    claim.forget();
    resolve(NOT_ASKED);
  }
}
