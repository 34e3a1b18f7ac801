/** The server of the ideal lock, and the resource beside it: nothing is lost here, and every rule is kept. */
import type { Operation } from "../../src/history/operation.ts";

/** An operation that is being made, and what only the server knows of it. */
export interface Draft {
  readonly operation: Operation;
  place: number | undefined;
  queuedMs: number | undefined;
  grantedMs: number | undefined;
  set(details: Partial<Operation>): void;
  end(type: Operation["type"], details: Partial<Operation>): void;
}

export interface Timers {
  readonly nowMs: number;
  in(delayMs: number, run: () => void): void;
}

interface Request {
  readonly draft: Draft;
  readonly grant: (token: bigint) => void;
}

export class IdealServer {
  readonly #timers: Timers;
  readonly #ttlMs: number;
  readonly #step: () => bigint;
  readonly #line: Request[] = [];
  readonly #gone = new Set<Draft>();
  #holder: Draft | undefined;
  #token = 10n ** 15n;
  #seen = { token: 0n, nonce: "" };
  #places = 0;

  constructor(timers: Timers, ttlMs: number, step: () => bigint) {
    this.#timers = timers;
    this.#ttlMs = ttlMs;
    this.#step = step;
  }

  acquire(draft: Draft, grant: (token: bigint) => void): void {
    // A release that overtook its acquire: the caller has given up.
    if (this.#gone.has(draft)) return;
    draft.queuedMs = this.#timers.nowMs;
    this.#line.push({ draft, grant });
    this.#next();
  }

  /** Nobody waits for it any more, which a server sees a ttl later. */
  forget(draft: Draft): void {
    this.#timers.in(this.#ttlMs, () => this.#leave(draft));
  }

  /** Whether it was the holder's. */
  release(draft: Draft): boolean {
    this.#leave(draft);
    if (this.#holder !== draft) return false;
    this.#holder = undefined;
    this.#next();
    return true;
  }

  /** Whether the fence lets it through. */
  visit(draft: Draft): boolean {
    const { token = 0n, nonce = "" } = draft.operation;
    draft.place = this.#places++;
    if (this.#seen.token > token || (this.#seen.token === token && this.#seen.nonce !== nonce)) return false;
    this.#seen = { token, nonce };
    return true;
  }

  #leave(draft: Draft): void {
    this.#gone.add(draft);
    const place = this.#line.findIndex((request) => request.draft === draft);
    if (place >= 0) this.#line.splice(place, 1);
  }

  #next(): void {
    if (this.#holder) return;
    const request = this.#line.shift();
    if (!request) return;
    this.#holder = request.draft;
    this.#token += this.#step();
    request.draft.grantedMs = this.#timers.nowMs;
    request.grant(this.#token);
    this.#timers.in(this.#ttlMs, () => {
      if (this.#holder !== request.draft) return;
      this.#holder = undefined;
      this.#next();
    });
  }
}
