/**
 * Leaves: the requests by which a process gives up its free places. The answer has everything that was given to the process, so that
 * gifts and replies that were lost are found. It knows which of that the process has, or had.
 */
import { BoundedMap } from "../bounded-map.js";
import type { HoldfastError } from "../errors.js";
import { UnderWay } from "../time/under-way.js";
import type { Given } from "./delivery-scripts.js";
import type { Lasting } from "./lasting.js";

export interface LeavesParts {
  readonly send: (isKnown: (handle: string) => boolean) => Promise<readonly Given[]>;
  /** The deliveries that this process has, also those that are being settled, and those whose bodies are under way. */
  readonly held: () => readonly { readonly handle: string }[];
  readonly lasting: Pick<Lasting, "spent">;
  /** Messages that were given to this process, and that it has never seen. */
  readonly found: (given: readonly Given[]) => void;
  readonly failed: (error: HoldfastError) => void;
}

const REMEMBERED = 4_096;

export class Leaves {
  readonly #parts: LeavesParts;
  /** For each request under way the handles that came before its answer. */
  readonly #underWay = new Set<Set<string>>();
  readonly #sent = new UnderWay();
  #next: { readonly promise: Promise<void>; readonly resolve: () => void } | null = null;

  constructor(parts: LeavesParts) {
    this.#parts = parts;
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
    const { lasting } = this.#parts;
    lasting.spent ??= new BoundedMap(REMEMBERED);
    lasting.spent.set(handle, true);
  }

  get isIdle(): boolean {
    return this.#next === null && this.#underWay.size === 0;
  }

  #isSpent(handle: string): boolean {
    return this.#parts.lasting.spent?.get(handle) === true;
  }

  async #send(): Promise<void> {
    const seen = new Set(this.#parts.held().map(({ handle }) => handle));
    this.#underWay.add(seen);
    try {
      const isKnown = (handle: string): boolean => seen.has(handle) || this.#isSpent(handle);
      const lost = (await this.#parts.send(isKnown)).filter(({ handle }) => !isKnown(handle));
      // Its gift may be late, and not lost.
      for (const { handle } of lost) this.spend(handle);
      if (lost.length > 0) this.#parts.found(lost);
    } catch (error) {
      this.#parts.failed(error as HoldfastError);
    }
    this.#underWay.delete(seen);
  }
}
