/**
 * Waits: the claims of this process that wait in line, each at its own name.
 *
 * A message to the inbox ends a wait, and then the grant costs no request. All other code here is for lost messages. A sign of
 * life every third of the ttl keeps the place in line, and its reply shows a missed grant. Every waiter asks again when the lease can
 * expire that its last answer told of, because those before it may be dead as well; and when the inbox is up again, or proves to be
 * elsewhere.
 */
import { type HoldfastError, isPassing, ServerError } from "../../../errors.js";
import type { Inbox } from "../../../redis/inbox.js";
import { BatchTimer } from "../../../time/batch-timer.js";
import { type Instant, leaseLeftMs } from "../../../time/clock.js";
import { jittered, type Random } from "../../../time/random.js";
import type { Schedule } from "../../../time/schedule.js";
import type { Busy, Claim } from "../../backend.js";
import type { ClaimScripts } from "./claim-scripts.js";
import type { SentClaim } from "./lock-scripts.js";
import type { SeenHolder, Verdict } from "./verdicts.js";

/** What one server said of a claim that waits for it. */
export interface BusyHere extends Busy {
  readonly holder: SeenHolder | null;
}

/** The callbacks of a claim that waits in line. None is called after `granted` or `refused`. */
export interface Waiting {
  readonly claim: Claim;
  readonly sent: SentClaim;
  /** @param sentAt when the question or the sign of life was sent that the grant answers */
  granted(token: bigint, sentAt: Instant): void;
  waiting(busy: BusyHere): void;
  /** No answer came, or an error that may pass. The wait goes on. */
  troubled(error: HoldfastError): void;
  refused(error: HoldfastError): void;
}

interface Wait {
  readonly waiting: Waiting;
  readonly sent: SentClaim;
  /** When each of the last signs of life was sent: a grant names one of them. */
  readonly sentAt: Map<number, Instant>;
  /** Number of the last sign of life. */
  heartbeat: number;
  /** The place in line, as the server gave it; "0" before. */
  ticket: string;
  inLine: boolean;
  /** Number of successive requests without a reply. */
  failures: number;
  over: boolean;
  /** When it began, on the monotonic clock. */
  readonly sinceMs: number;
}

/** Signs of life come a third of the ttl apart, like renewals. */
const HEARTBEAT_SHARE = 1 / 3;
const RETRY_SHARE = HEARTBEAT_SHARE / 2;
const CHUNK = 100;
const REMEMBERED_HEARTBEATS = 8;
/** The interval in ms of polling while the inbox is down, because no place in line is possible then. */
const POLL_MS = 250;
/** How long a silent inbox is trusted at the start of a wait. */
const FRESH_TRUST_MS = 1_000;
/** An overloaded server gets fewer and fewer requests. */
const LONGEST_RETRY_MS = 2_000;
/** A lease lapses at the server a moment after its last millisecond. */
const LAPSE_MARGIN_MS = 2;
const LAPSE_SPREAD_MS = 5;

export class Waits {
  readonly #schedule: Schedule;
  readonly #random: Random;
  readonly #inbox: Inbox;
  readonly #scripts: ClaimScripts;
  readonly #byId = new Map<string, Wait>();
  readonly #timer: BatchTimer<Wait>;

  constructor(schedule: Schedule, random: Random, inbox: Inbox, scripts: ClaimScripts) {
    this.#schedule = schedule;
    this.#random = random;
    this.#inbox = inbox;
    this.#scripts = scripts;
    this.#timer = new BatchTimer<Wait>(schedule, {
      visit: (waits) => this.#visit(waits),
      earlyMs: (wait) => (wait.inLine ? (wait.waiting.claim.ttlMs * RETRY_SHARE) / 2 : 0),
      chunk: CHUNK,
    });
    inbox.onRefused((error, askedMs) => {
      // A wait that began later has not asked yet: its next question opens the inbox again.
      for (const wait of this.#byId.values()) if (wait.sinceMs <= askedMs) this.#failed(wait, error);
    });
    inbox.serve({ waits: () => this.#byId.size > 0, turned: () => this.#askAll() });
  }

  /** @param ticket the place in line that it has a right to, "0" for the last */
  add(waiting: Waiting, ticket: string): void {
    const wait: Wait = {
      waiting,
      sent: waiting.sent,
      sentAt: new Map(),
      heartbeat: 0,
      ticket,
      inLine: false,
      failures: 0,
      over: false,
      sinceMs: this.#schedule.clock.now().monoMs,
    };
    this.#byId.set(waiting.claim.id, wait);
    this.#ask(wait);
  }

  /** Ends the wait, if there is one. The caller must remove it from the server. */
  remove({ claim }: Waiting): void {
    const wait = this.#byId.get(claim.id);
    if (wait) this.#remove(wait);
  }

  /** Ends every wait: no request gets an answer from now on. @param error makes one for each */
  refuse(error: () => HoldfastError): void {
    for (const wait of [...this.#byId.values()]) this.#failed(wait, error());
  }

  close(): void {
    for (const wait of this.#byId.values()) this.#remove(wait);
  }

  #remove(wait: Wait): void {
    wait.over = true;
    this.#byId.delete(wait.waiting.claim.id);
    this.#timer.delete(wait);
    if (this.#byId.size === 0) this.#inbox.rest();
  }

  /** To be called when a message reports a grant. Returns false when no claim with this id waits here. */
  grant(id: string, token = "0", heartbeat = "0"): boolean {
    const wait = this.#byId.get(id);
    if (wait && /^\d+$/.test(token)) this.#grant(wait, BigInt(token), wait.sentAt.get(Number(heartbeat)));
    return wait !== undefined;
  }

  /** To be called when a message says that the name is free. The first request for it gets it. */
  wake(id: string): void {
    const wait = this.#byId.get(id);
    if (wait) this.#askNow(wait);
  }

  /** Numbers a sign of life that is about to be sent. */
  #stamp(wait: Wait, now: Instant): number {
    wait.heartbeat += 1;
    wait.sentAt.set(wait.heartbeat, now);
    wait.sentAt.delete(wait.heartbeat - REMEMBERED_HEARTBEATS);
    return wait.heartbeat;
  }

  #askAll(): void {
    const waits = [...this.#byId.values()];
    // A place in line is of no use to a process that no grant reaches.
    if (!this.#inbox.up) for (const wait of waits) wait.inLine = false;
    for (let start = 0; start < waits.length; start += CHUNK) this.#visit(waits.slice(start, start + CHUNK));
  }

  #visit(waits: readonly Wait[]): void {
    const inLine = waits.filter((wait) => wait.inLine);
    if (inLine.length > 0) {
      for (const group of this.#scripts.groupBySlot(inLine)) void this.#sendHeartbeats(group);
    }
    for (const wait of waits) if (!wait.inLine) this.#ask(wait);
  }

  #ask(wait: Wait): void {
    // Subscribed first, in line second: otherwise a hand-over in between would reach nobody.
    const { up, channel } = this.#inbox;
    const sentAt = this.#schedule.clock.now();
    const heartbeat = this.#stamp(wait, sentAt);
    const timeoutMs = this.#scripts.callTimeoutMs;
    const settings = { wait: up, inbox: channel, heartbeat, ticket: wait.ticket, timeoutMs };
    this.#scripts.acquire(wait.sent, settings, {
      answered: (verdict) => this.#hear(wait, verdict, sentAt),
      failed: (error) => this.#failed(wait, error),
    });
  }

  async #sendHeartbeats(waits: readonly Wait[]): Promise<void> {
    const longestMs = Math.max(...waits.map((wait) => wait.waiting.claim.ttlMs));
    // The next one follows soon unless an answer comes first, which is believed however late it is.
    for (const wait of waits)
      this.#timer.set(wait, jittered(this.#random, wait.waiting.claim.ttlMs * RETRY_SHARE, 0.2));
    const sentAt = this.#schedule.clock.now();
    try {
      const numbered = waits.map((wait) => [wait.waiting.claim, this.#stamp(wait, sentAt)] as const);
      const verdicts = await this.#scripts.heartbeat(numbered, longestMs);
      // The server granted or dropped the wait, and no message came: it was lost, or the inbox no longer works.
      const unheard = verdicts.some(({ kind }, place) => kind !== "in-line" && !waits[place]?.over);
      if (unheard) this.#inbox.doubt(0);
      for (const [place, wait] of waits.entries()) {
        this.#hear(wait, verdicts[place] as Verdict, sentAt);
      }
    } catch (error) {
      const refused = error instanceof ServerError && !error.passing && waits.length > 1;
      for (const wait of waits) {
        if (!refused) this.#failed(wait, error as HoldfastError);
        else if (!wait.over) this.#askNow(wait); // it may be the fault of one name: each asks for itself
      }
    }
  }

  /** @param sentAt when what it answers was sent */
  #hear(wait: Wait, verdict: Verdict, sentAt: Instant): void {
    if (wait.over) return;
    wait.failures = 0;
    switch (verdict.kind) {
      case "granted":
        this.#grant(wait, verdict.token, sentAt);
        return;
      case "busy":
        this.#inbox.open();
        wait.waiting.waiting({ owner: verdict.owner, holder: verdict.holder ?? null, ahead: null });
        this.#timer.set(wait, Math.min(jittered(this.#random, POLL_MS, 0.5), this.#lapseMs(verdict.leftMs)));
        if (this.#inbox.up) this.#timer.set(wait, 0);
        return;
      case "in-line": {
        this.#inbox.open();
        this.#inbox.doubt(wait.inLine ? undefined : FRESH_TRUST_MS);
        wait.inLine = true;
        wait.ticket = verdict.ticket;
        wait.waiting.waiting(verdict);
        const beatMs = jittered(this.#random, wait.waiting.claim.ttlMs * HEARTBEAT_SHARE, 0.2);
        this.#timer.set(wait, Math.min(beatMs, this.#lapseMs(verdict.leftMs, verdict.ahead)));
        return;
      }
      case "unknown-id":
        // The server took the waiter for dead, or lost its data. The ticket brings the wait back to its old place.
        wait.inLine = false;
        this.#timer.set(wait, 0);
    }
  }

  /** One after the other in the order of the line: where the first in line lives, it is served before the others ask. */
  #lapseMs(leftMs: number, ahead = 0): number {
    return leftMs + LAPSE_MARGIN_MS + (ahead + this.#random.fraction()) * LAPSE_SPREAD_MS;
  }

  #failed(wait: Wait, error: HoldfastError): void {
    if (wait.over) return;
    if (isPassing(error)) {
      wait.waiting.troubled(error);
      if (wait.inLine) return; // its next sign of life is set
      const firstMs = Math.min(wait.waiting.claim.ttlMs * RETRY_SHARE, POLL_MS);
      const delayMs = Math.min(firstMs * 2 ** wait.failures, LONGEST_RETRY_MS);
      wait.failures += 1;
      this.#timer.set(wait, jittered(this.#random, delayMs, 0.5));
      return;
    }
    this.#remove(wait);
    wait.waiting.refused(error);
  }

  #grant(wait: Wait, token: bigint, sentAt: Instant | undefined): void {
    if (!sentAt || leaseLeftMs(this.#schedule.clock.now(), sentAt, wait.waiting.claim.ttlMs) <= 0) {
      // A sign of life so old that the lease is over already: ask, and the ttl counts from the question.
      this.#askNow(wait);
      return;
    }
    this.#remove(wait);
    wait.waiting.granted(token, sentAt);
  }

  #askNow(wait: Wait): void {
    wait.inLine = false;
    this.#timer.delete(wait);
    this.#ask(wait);
  }
}
