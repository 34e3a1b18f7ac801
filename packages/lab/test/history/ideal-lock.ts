/**
 * Histories that no checker may complain of: an ideal lock, with a line and leases, a resource behind a fence, and
 * clients whose messages take their time, are lost, and who give up, crash and forget.
 */
import { Dice } from "../../src/chance/dice.ts";
import type { Operation } from "../../src/history/operation.ts";
import { type Draft, IdealServer } from "./ideal-server.ts";

export interface IdealTerms {
  readonly seed: number;
  readonly clients: number;
  /** About as many are made. */
  readonly operations: number;
  /** How often an answer or a request is lost, a client crashes, gives up, or forgets that its lease ran out. */
  readonly trouble: number;
  readonly key?: string;
}

export interface IdealHistory {
  readonly operations: readonly Operation[];
  readonly deathsMs: ReadonlyMap<string, number>;
  /** The resource's own order. */
  readonly places: ReadonlyMap<Operation, number>;
  /** When an acquire stood in line. */
  readonly queuedMs: ReadonlyMap<Operation, number>;
  readonly endMs: number;
}

export const TTL_MS = 50;
/** One way, at most. */
export const DELAY_MS = 2;

interface Client {
  name: string;
  seq: number;
}

/** Makes the operations one after the other on a heap of what is to happen, in virtual time. */
export class IdealRun {
  readonly dice: Dice;
  readonly #terms: IdealTerms;
  readonly #agenda = new Agenda();
  readonly #drafts: Draft[] = [];
  readonly #deathsMs = new Map<string, number>();
  readonly #server: IdealServer;
  #life = 0;

  constructor(terms: IdealTerms) {
    this.#terms = terms;
    this.dice = new Dice(terms.seed);
    this.#server = new IdealServer(this.#agenda, TTL_MS, () => BigInt(this.dice.whole(1, 1000)));
  }

  run(): IdealHistory {
    for (let at = 0; at < this.#terms.clients; at++) this.#think({ name: `w${at}`, seq: 0 });
    const endMs = this.#agenda.run();
    const operations = this.#drafts.map(({ operation }) => operation);
    const places = new Map<Operation, number>();
    const queuedMs = new Map<Operation, number>();
    for (const { operation, place, queuedMs: atMs } of this.#drafts) {
      if (place !== undefined) places.set(operation, place);
      if (atMs !== undefined) queuedMs.set(operation, atMs);
    }
    return { operations, deathsMs: this.#deathsMs, places, queuedMs, endMs: endMs + 1 };
  }

  #think(client: Client): void {
    if (this.#drafts.length >= this.#terms.operations) return;
    this.#agenda.in(this.dice.between(0.1, 10), () => this.#acquire(client));
  }

  #acquire(client: Client): void {
    const draft = this.#begin(client, "acquire", "lock");
    const nowMs = this.#agenda.nowMs;
    draft.set({ nonce: `${client.name}-${client.seq}` });
    let isOpen = true;
    const settle = (): boolean => {
      const was = isOpen;
      isOpen = false;
      return was;
    };
    const granted = (token: bigint) => {
      if (!settle()) return;
      const validUntilMs = nowMs + TTL_MS;
      // A waiter's deadline counts from its last sign of life, so it is granted a lease from before the grant.
      const fromMs = Math.max(validUntilMs, draft.grantedMs! + TTL_MS - 2 * DELAY_MS);
      draft.end("ok", { token, validUntilMs: fromMs, retMs: this.#agenda.nowMs });
      this.#hold(client, draft);
    };
    this.#send(() => this.#server.acquire(draft, (token) => this.#send(() => granted(token))));
    const givesUp = this.#isTrouble();
    const dies = !givesUp && this.#isTrouble();
    if (!givesUp && !dies) return;
    this.#agenda.in(this.dice.between(1, 3 * TTL_MS), () => {
      if (!settle()) return;
      if (dies) this.#die(client, draft);
      else this.#giveUp(client, draft);
    });
  }

  /** The caller's patience ends: it does not know what it has, and says so to the server. */
  #giveUp(client: Client, acquire: Draft): void {
    acquire.end("info", { retMs: this.#agenda.nowMs, error: "timeout" });
    this.#server.forget(acquire);
    this.#release(client, acquire);
  }

  #hold(client: Client, acquire: Draft): void {
    const { validUntilMs } = acquire.operation;
    const heldMs = this.#isTrouble() ? this.dice.between(TTL_MS, 2 * TTL_MS) : this.dice.between(0.1, 8);
    const end = () => {
      acquire.set({ endMs: Math.min(this.#agenda.nowMs, validUntilMs!) });
      this.#release(client, acquire);
    };
    const work = () => {
      if (this.#isTrouble()) this.#die(client, acquire);
      else if (this.dice.chance(0.7)) this.#visit(client, acquire, "write", end);
      else end();
    };
    const stallMs = this.#isTrouble() ? this.dice.between(TTL_MS, 2 * TTL_MS) : 0;
    this.#agenda.in(stallMs, () =>
      this.#visit(client, acquire, "enter", () => this.#agenda.in(heldMs, work)),
    );
  }

  #visit(client: Client, acquire: Draft, f: string, then: () => void): void {
    const { token, nonce } = acquire.operation;
    const draft = this.#begin(client, f, "file");
    draft.set({ token: token!, nonce: nonce! });
    const isLost = this.#isTrouble();
    this.#send(() => {
      const isTaken = this.#server.visit(draft);
      if (isLost) return;
      this.#send(() => {
        const retMs = this.#agenda.nowMs;
        if (isTaken) draft.end("ok", { retMs });
        else draft.end("fail", { retMs, error: "STALE_TOKEN" });
        then();
      });
    });
    if (!isLost) return;
    this.#agenda.in(3 * DELAY_MS, () => {
      draft.end("info", { retMs: this.#agenda.nowMs });
      then();
    });
  }

  #release(client: Client, acquire: Draft): void {
    const draft = this.#begin(client, "release", "lock");
    const isRequestLost = this.#isTrouble();
    const isAnswerLost = this.#isTrouble();
    const isLost = isRequestLost || isAnswerLost;
    if (!isRequestLost) {
      this.#send(() => {
        const wasHis = this.#server.release(acquire);
        if (isAnswerLost) return;
        this.#send(() => {
          const retMs = this.#agenda.nowMs;
          if (wasHis) draft.end("ok", { retMs });
          else draft.end("fail", { retMs, error: "not held" });
          this.#think(client);
        });
      });
    }
    if (!isLost) return;
    this.#agenda.in(3 * DELAY_MS, () => {
      draft.end("info", { retMs: this.#agenda.nowMs, error: "timeout" });
      this.#think(client);
    });
  }

  #die(client: Client, acquire: Draft): void {
    this.#server.forget(acquire);
    this.#deathsMs.set(client.name, this.#agenda.nowMs);
    this.#think({ name: `${client.name.split("#")[0]}#${++this.#life}`, seq: 0 });
  }

  #begin(client: Client, f: string, what: string): Draft {
    const operation = {
      process: client.name,
      seq: client.seq++,
      f,
      key: `${what}${this.#terms.key ?? ""}`,
      invMs: this.#agenda.nowMs,
      retMs: null,
      type: "info",
    } as const;
    const draft = new DraftOf(operation);
    this.#drafts.push(draft);
    return draft;
  }

  #send(arrive: () => void): void {
    this.#agenda.in(this.dice.between(0.1, DELAY_MS), arrive);
  }

  #isTrouble(): boolean {
    return this.dice.chance(this.#terms.trouble);
  }
}

class DraftOf implements Draft {
  operation: Operation;
  place: number | undefined;
  queuedMs: number | undefined;
  grantedMs: number | undefined;

  constructor(operation: Operation) {
    this.operation = operation;
  }

  set(details: Partial<Operation>): void {
    Object.assign(this.operation, details);
  }

  end(type: Operation["type"], details: Partial<Operation>): void {
    this.set({ type, ...details });
  }
}

/** What is to happen, by time; a binary heap. */
class Agenda {
  nowMs = 0;
  #count = 0;
  readonly #heap: { readonly atMs: number; readonly order: number; readonly run: () => void }[] = [];

  in(delayMs: number, run: () => void): void {
    this.#heap.push({ atMs: this.nowMs + delayMs, order: this.#count++, run });
    let at = this.#heap.length - 1;
    while (at > 0 && this.#isBefore(at, (at - 1) >> 1)) {
      this.#swap(at, (at - 1) >> 1);
      at = (at - 1) >> 1;
    }
  }

  run(): number {
    while (this.#heap.length > 0) {
      const next = this.#heap[0]!;
      const last = this.#heap.pop()!;
      if (this.#heap.length > 0) {
        this.#heap[0] = last;
        this.#sink();
      }
      this.nowMs = next.atMs;
      next.run();
    }
    return this.nowMs;
  }

  #sink(): void {
    for (let at = 0; ; ) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < this.#heap.length && this.#isBefore(child, least)) least = child;
      }
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [one, other] = [this.#heap[a]!, this.#heap[b]!];
    return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
  }

  #swap(a: number, b: number): void {
    [this.#heap[a], this.#heap[b]] = [this.#heap[b]!, this.#heap[a]!];
  }
}
