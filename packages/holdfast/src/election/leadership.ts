/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Leadership: one term of one leader. It is a lease on the lock of the election, and ends as a lease does: by the clocks of this
 * process, without a request, when it could not be renewed.
 */
import {
  ClientOverloadedError,
  fromCaller,
  InvalidArgumentError,
  LeaseLostError,
  LeaseReleasedError,
  ServerError,
  UnavailableError,
} from "../errors.js";
import type { Lease, ReleaseResult } from "../lease/lease.js";
import type { LockBackend, Transfer } from "../locks/backend.js";
import { INSPECT, type InspectArguments, shown } from "../shown.js";
import { callerContext, publish } from "../telemetry/events.js";
import { whenAborted } from "../time/abort.js";
import { elapsedMs, type Instant } from "../time/clock.js";
import type { Schedule } from "../time/schedule.js";
import type { Announcement } from "./announcement.js";
import type { Candidate, ElectionInspection } from "./inspection.js";

/** The candidate that a leader has handed over to, and its term. */
export interface Successor extends Candidate {
  readonly term: bigint;
}

/** A leadership as `JSON.stringify` writes it. */
export interface LeadershipJson<Value = unknown> {
  readonly election: string;
  /** In decimal digits. */
  readonly term: string;
  readonly id: string;
  readonly value: Value | null;
  readonly announced: boolean;
  readonly valid: boolean;
  readonly remainingMs: number;
}

export interface Leadership<Value = unknown> {
  /** The name of the election. */
  readonly election: string;
  /** The term: larger than every earlier one of this election. Pass it to the resources that the leader writes to. */
  readonly term: bigint;
  /** The same as `term`, so that a leadership can be passed wherever a lease can. */
  readonly fence: bigint;
  /** Identifies the leader, and the candidate that it was. */
  readonly id: string;
  readonly value: Value | null;
  /** Whether others can read the value. A failed announcement is tried again, and does not end the leadership. */
  readonly announced: boolean;
  /**
   * Aborts with a LeaseLostError when the leadership is lost, before anybody else can lead. Call `check()` before each side effect
   * besides, because other callbacks may run before it fires. `resign()` and `transfer()` do not abort the signal.
   */
  readonly signal: AbortSignal;
  /** Whether this process leads now. It reads the clocks synchronously, not a flag. False while a transfer is under way. */
  readonly valid: boolean;
  /** Milliseconds until the term ends unless it is renewed; 0 when it is over. */
  readonly remainingMs: number;
  /**
   * Throws unless the leadership is valid.
   * @throws {LeaseLostError} it is over
   * @throws {LeaseReleasedError} the leader has resigned, or hands over
   */
  check(): void;
  /**
   * Ends the leadership; the first candidate in line leads at once. Stop the leader's work before. Never rejects. A repeated call
   * has the result of the first one, unless that is `unknown`: then it tries again.
   */
  resign(): Promise<ReleaseResult>;
  /**
   * Hands over to the first candidate in line, or to the one with this id or label. Stop the leader's work before: the leadership is
   * not valid while the call is under way. Resolves to the new leader; or to null when no such candidate is there, and then this
   * process leads on, in the same term.
   * @throws {LeaseLostError} the leadership was over
   * @throws {LeaseReleasedError} the leader has resigned, or hands over already
   * @throws {IndeterminateError} no answer came; if `valid` is false now, this process has resigned, because the candidate may lead
   * @throws {ServerError} the server refused; this process leads on, unless `valid` is false
   */
  transfer(to?: string): Promise<Successor | null>;
  /** For logs. */
  toJSON(): LeadershipJson<Value>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface LeadershipParts {
  readonly schedule: Schedule;
  readonly backend: LockBackend;
  readonly inspection: ElectionInspection;
}

export class HeldLeadership<Value> implements Leadership<Value> {
  readonly election: string;
  readonly term: bigint;
  readonly id: string;
  readonly value: Value | null;
  readonly #parts: LeadershipParts;
  readonly #lease: Lease;
  readonly #announcement: Announcement;
  readonly #controller = new AbortController();
  readonly #since: Instant;
  readonly #context = callerContext("holdfast:election:lost");
  /** A campaign has resolved with it. Until then nobody hears of it. */
  #isElected = false;
  #stage: "leading" | "handing-over" | "over" = "leading";
  #loss: LeaseLostError | null = null;
  /** The loss of the lease during a transfer. It is the loss of the leadership unless that was handed over. */
  #lostMeanwhile: LeaseLostError | null = null;
  /** Settles when the transfer that is under way has its answer. */
  #handing: Promise<unknown> | null = null;
  #isHandedOver = false;
  #resigning: Promise<ReleaseResult> | null = null;
  /** When the first release was sent, and how much of the lease was left. */
  #released: { readonly at: Instant; readonly leftMs: number } | null = null;

  constructor(
    parts: LeadershipParts,
    election: string,
    lease: Lease,
    announcement: Announcement,
    value: Value | null,
  ) {
    this.#parts = parts;
    this.election = election;
    this.term = lease.fence;
    this.id = lease.id;
    this.value = value;
    this.#lease = lease;
    this.#announcement = announcement;
    this.#since = parts.schedule.clock.now();
    announcement.whenOvertaken(() => this.#overtaken());
    const { signal } = lease;
    whenAborted(signal, () => this.#lost(signal.reason as LeaseLostError));
  }

  /** The campaign resolves with this leadership now. */
  begin(waitedMs: number): void {
    const { election, term, announced } = this;
    this.#isElected = true;
    publish("holdfast:election:elected", () => ({
      election,
      term,
      announced,
      waitedMs: Math.round(waitedMs),
    }));
  }

  get fence(): bigint {
    return this.term;
  }

  get announced(): boolean {
    return this.#announcement.made;
  }

  get signal(): AbortSignal {
    void this.#lease.valid; // which aborts it if no timer has noticed the end yet
    return this.#controller.signal;
  }

  /** A transfer is under way: it leads on, or another process does. */
  get isHandingOver(): boolean {
    return this.#stage === "handing-over";
  }

  get valid(): boolean {
    return this.remainingMs > 0;
  }

  get remainingMs(): number {
    const leftMs = this.#lease.remainingMs;
    return this.#stage === "leading" ? leftMs : 0;
  }

  check(): void {
    if (this.valid) return;
    throw fromCaller(
      this.#loss ?? new LeaseReleasedError(this.#lease.name, this.term, this.election),
      this.check,
    );
  }

  resign(): Promise<ReleaseResult> {
    if (this.#resigning) return this.#resigning;
    const resigning = this.#resign().then((result) => {
      if (result === "unknown") this.#resigning = null;
      return result;
    });
    this.#resigning = resigning;
    return resigning;
  }

  async transfer(to?: string): Promise<Successor | null> {
    if (to !== undefined && (typeof to !== "string" || to === "")) {
      throw new InvalidArgumentError("to", "must be the id or the label of a candidate");
    }
    this.check();
    // From here on until the answer nobody may act as the leader: the candidate may lead before this process knows.
    this.#stage = "handing-over";
    const handing = this.#transfer(to);
    this.#handing = handing;
    try {
      return await handing;
    } catch (error) {
      throw fromCaller(error, this.transfer);
    } finally {
      this.#handing = null;
      this.#leadOn();
    }
  }

  toJSON(): LeadershipJson<Value> {
    return { ...this.#facts, term: String(this.term) };
  }

  [INSPECT](...inspecting: InspectArguments): string {
    return shown("Leadership", this.#facts, inspecting);
  }

  get #facts() {
    const { election, term, id, value, announced, valid, remainingMs } = this;
    return { election, term, id, value, announced, valid, remainingMs };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.resign();
  }

  #lost({ lock, fence, reason, lateMs }: LeaseLostError): void {
    if (this.#stage === "over") return;
    const loss = new LeaseLostError(lock, fence, reason, lateMs, this.election);
    if (this.#stage === "handing-over") {
      this.#lostMeanwhile ??= loss;
      return;
    }
    this.#end();
    this.#loss = loss;
    const { election, term } = this;
    if (this.#isElected)
      publish(
        "holdfast:election:lost",
        () => ({ election, term, reason, lateMs, ledMs: this.#ledMs }),
        this.#context,
      );
    this.#controller.abort(loss);
  }

  /** The record has seen a later term: Redis lost the lock, and kept the record. */
  #overtaken(): void {
    this.#lost(new LeaseLostError(this.#lease.name, this.term, "taken", 0));
    if (this.#stage === "over") void this.#lease.release(); // so that somebody leads under a term above it
  }

  /** Nobody here may act as the leader any more. */
  #end(): void {
    this.#stage = "over";
    this.#announcement.stop();
  }

  get #ledMs(): number {
    return Math.round(elapsedMs(this.#parts.schedule.clock, this.#since));
  }

  async #resign(): Promise<ReleaseResult> {
    // A candidate may lead already, or this process may lead on: nobody knows before the answer.
    while (this.#handing) await this.#handing.catch(() => {});
    if (this.#isHandedOver) return "released";
    const result = this.#released ? await this.#releaseAgain(this.#released) : await this.#release();
    if (result !== "released") return result;
    const { election, term } = this;
    if (this.#isElected)
      publish("holdfast:election:resigned", () => ({ election, term, ledMs: this.#ledMs }));
    await this.#announcement.withdraw();
    return result;
  }

  #release(): Promise<ReleaseResult> {
    const leftMs = this.remainingMs;
    this.#released = { at: this.#parts.schedule.clock.now(), leftMs };
    if (this.#stage === "leading") this.#end();
    return this.#lease.release();
  }

  /** After a release without an answer. It takes the lock from the holder of this term only, so it can harm nobody else. */
  async #releaseAgain({
    at,
    leftMs,
  }: {
    readonly at: Instant;
    readonly leftMs: number;
  }): Promise<ReleaseResult> {
    try {
      const { outcome } = await this.#parts.backend.inspection.forceRelease(this.#lease.name, this.term);
      if (outcome === "released" || outcome === "handed-over") return "released";
      // It was gone before its time: the first release ended it, or the clean-up after that.
      return elapsedMs(this.#parts.schedule.clock, at) < leftMs ? "released" : "lapsed";
    } catch {
      return "unknown";
    }
  }

  async #transfer(to: string | undefined): Promise<Successor | null> {
    const { candidates } = await this.#parts.inspection.look(this.election);
    for (const candidate of candidates) {
      if (to !== undefined && candidate.id !== to && candidate.label !== to) continue;
      if (this.#lostMeanwhile) break;
      const successor = await this.#handTo(candidate);
      if (successor) return successor;
    }
    if (this.#lostMeanwhile) throw this.#lostMeanwhile;
    return null;
  }

  async #handTo(candidate: Candidate): Promise<Successor | null> {
    const { backend } = this.#parts;
    const { name, id } = this.#lease;
    if (!backend.transfer)
      throw new InvalidArgumentError("transfer()", "is not offered by this store of locks");
    let transfer: Transfer;
    try {
      transfer = await backend.transfer({ name, id }, candidate.id);
    } catch (error) {
      if (await this.#mayHaveEffect(error)) await this.#giveUp();
      throw error;
    }
    if (transfer.outcome === "handed-over") {
      this.#handedOver(candidate, transfer.token);
      return { ...candidate, term: transfer.token };
    }
    if (transfer.outcome === "lost")
      this.#lostMeanwhile ??= new LeaseLostError(name, this.term, "taken", 0, this.election);
    return null;
  }

  #handedOver({ id, label }: Candidate, nextTerm: bigint): void {
    const { election, term } = this;
    this.#isHandedOver = true;
    this.#end();
    void this.#lease.release(); // ends the renewals; the store does not know the id any more
    publish("holdfast:election:transferred", () => ({
      election,
      term,
      to: id,
      label,
      nextTerm,
      ledMs: this.#ledMs,
    }));
  }

  /** Nobody knows whether the candidate leads. */
  async #giveUp(): Promise<void> {
    this.#released = { at: this.#parts.schedule.clock.now(), leftMs: this.#lease.remainingMs };
    this.#end();
    await this.#lease.release();
  }

  /** Whether the transfer may have been carried out, or may still be. */
  async #mayHaveEffect(error: unknown): Promise<boolean> {
    if (error instanceof ClientOverloadedError || error instanceof UnavailableError) return false;
    if (!(error instanceof ServerError)) return true;
    try {
      // A server may refuse the second half of a script.
      const { leader } = await this.#parts.inspection.look(this.election);
      return leader?.id !== this.id;
    } catch {
      return true;
    }
  }

  /** The transfer came to nothing. The lease may have been lost in the meantime. */
  #leadOn(): void {
    if (this.#stage !== "handing-over") return;
    this.#stage = "leading";
    if (this.#lostMeanwhile) this.#lost(this.#lostMeanwhile);
  }
}
