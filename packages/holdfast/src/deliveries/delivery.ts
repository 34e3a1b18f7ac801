/** Delivery: a message that this process has, until it is settled or lost. */
import { checkOptions } from "../arguments.js";
import { type DeliveryLossReason, DeliveryLostError, fromCaller, type HoldfastError } from "../errors.js";
import type { Linked } from "../linked-list.js";
import { INSPECT, type InspectArguments, shown } from "../shown.js";
import { type CallerContext, publish } from "../telemetry/events.js";
import { type Clock, type Instant, leaseLeftMs } from "../time/clock.js";
import { type Duration, durationMs } from "../time/duration.js";
import { decodeValue, encodeValue } from "../values.js";
import { FIRST_LEASE_MS } from "./delivery-calls.js";
import type { Given } from "./delivery-scripts.js";
import { type Handle, isUnsure, parseHandle } from "./handle.js";

export interface NackOptions {
  /** Delivers the message again no earlier than after this time. @default 0 */
  readonly delay?: Duration | undefined;
}

/** A delivery as `JSON.stringify` writes it, without its body. */
export interface DeliveryJson {
  readonly id: string;
  /** In decimal digits. */
  readonly token: string;
  readonly attempt: number;
  readonly isLive: boolean;
  readonly remainingMs: number;
  /** Only in lanes. */
  readonly lane?: string;
}

export interface Delivery<Body = unknown, Result = unknown> {
  /** Of the message: the same with each delivery of it. In lanes it is the ticket. */
  readonly id: string;
  readonly body: Body;
  /** Larger than that of every earlier delivery of the queue. Pass it as a fence to whatever the work writes to. */
  readonly token: bigint;
  /** 1 for the first one. A delivery whose process ended was none. */
  readonly attempt: number;
  /** Aborts with DeliveryLostError when the delivery is lost: by the clock of this process, without a request. */
  readonly signal: AbortSignal;
  /** Whether this process has the message: it is neither settled nor lost. */
  readonly isLive: boolean;
  /** Milliseconds until the deadline; 0 when the delivery is over. */
  readonly remainingMs: number;
  /**
   * The message is done. A result is stored in the same step. May be repeated.
   * @throws {DeliveryLostError} the message was delivered again, or may be: nothing is stored
   * @throws {IndeterminateError} no answer came until the deadline
   * @throws {ServerError} @throws {InvalidArgumentError} the result is not JSON, or too large
   */
  ack(result?: Result): Promise<void>;
  /** Returns the message to the queue. Errors as for `ack`. */
  nack(options?: NackOptions): Promise<void>;
  /** Moves the deadline to this time from now. @throws {DeliveryLostError} @throws {IndeterminateError} @throws {ServerError} */
  extend(deadline: Duration): Promise<void>;
  /** For logs. The body is left out, because it may be large, or secret. */
  toJSON(): DeliveryJson;
  /** Returns the message to the queue unless it is settled. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** How a delivery is settled. */
export type Settling =
  | { readonly kind: "ack"; readonly result: string | undefined }
  | {
      readonly kind: "return";
      readonly delayMs: number;
      readonly isAttempt: boolean;
      readonly reason: string | undefined;
    };

/** How a message goes back that nobody failed at: no program has seen it, or its consumer stops. */
export const NO_ATTEMPT: Settling = { kind: "return", delayMs: 0, isAttempt: false, reason: undefined };

/** Called with the outcome of a settlement. Null: Redis has carried it out. */
export type Told = (error: HoldfastError | null) => void;

/** The intake of a delivery, as the delivery uses it. */
export interface DeliveryHome {
  readonly name: string;
  readonly clock: Clock;
  settle(delivery: HeldDelivery): void;
  extend(delivery: HeldDelivery, leaseMs: number): Promise<void>;
}

const LONGEST_MS = 10 * 365 * 86_400_000;
const LONGEST_DEADLINE_MS = 86_400_000;

export class HeldDelivery implements Delivery, Linked<HeldDelivery> {
  readonly handle: string;
  readonly #home: DeliveryHome;
  readonly #text: string;
  #facts: Handle | null = null;
  #body: { readonly value: unknown } | null = null;
  #sentAt: Instant;
  #leaseMs: number;
  /** When the program last moved its deadline. */
  #movedAt: Instant | null = null;
  #stage: "held" | "settling" | "over" = "held";
  #told: Told | null = null;
  #acked: Promise<void> | null = null;
  #controller: AbortController | null = null;
  #loss: DeliveryLostError | null = null;
  /** How it is being settled. */
  settling: Settling | null = null;
  /** A request that settles it was sent. */
  isSent = false;
  /** Somebody here has a place for it, and waits until its deadline is confirmed. */
  isTaken = false;
  /** Redis has confirmed an extension. */
  isSecured = false;
  /** Extensions under way. */
  extending = 0;
  /** The program has it. */
  isGiven = false;
  /** Of whoever takes it. */
  context: CallerContext = null;
  /** The keeping's: when it extends the delivery, on the monotonic clock. */
  beatMs = 0;
  /** For how long the keeping extends it. */
  keepMs = FIRST_LEASE_MS;
  /** The keeping extends it again and again, and not once. */
  isKept = false;
  /** The keeping's, as is `next`. */
  previous: HeldDelivery | null = null;
  next: HeldDelivery | null = null;

  /** @param sentAt an instant before its first lease began, as far as this process knows @param leaseMs of that lease */
  constructor(home: DeliveryHome, { handle, body }: Given, sentAt: Instant, leaseMs = FIRST_LEASE_MS) {
    this.#home = home;
    this.handle = handle;
    this.#text = body;
    this.#sentAt = sentAt;
    this.#leaseMs = leaseMs;
  }

  /**
   * Whether the first lease of an earlier delivery of this message ran out. A handler begins with such a delivery only when Redis has confirmed
   * an extension.
   */
  get isUnsure(): boolean {
    return isUnsure(this.handle);
  }

  /** Whether a program may be given it, as far as this process knows. */
  get mayBegin(): boolean {
    return this.isLive && (this.isSecured || !this.isUnsure);
  }

  /** Of the body as it is stored. */
  get size(): number {
    return this.#text.length;
  }

  get id(): string {
    return this.#handle.id;
  }

  get token(): bigint {
    return this.#handle.token;
  }

  get attempt(): number {
    return this.#handle.attempt;
  }

  /** Null: the message has no lane. */
  get lane(): string | null {
    return this.#handle.lane;
  }

  /** @throws {IndeterminateError} another program wrote it */
  get body(): unknown {
    this.#body ??= { value: decodeValue(this.#text) };
    return this.#body.value;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      this.#noticeExpiry();
      if (this.#loss) this.#controller.abort(this.#loss);
    }
    return this.#controller.signal;
  }

  get isLive(): boolean {
    return this.remainingMs > 0;
  }

  get remainingMs(): number {
    if (this.#stage !== "held") return 0;
    this.#noticeExpiry();
    return this.#loss ? 0 : this.leftMs(this.#home.clock.now());
  }

  ack(result?: unknown): Promise<void> {
    if (this.#acked) return this.#acked;
    const acked = this.#settled(this.ack, () => {
      const text = result === undefined ? undefined : encodeValue("result", result);
      return { kind: "ack", result: text };
    });
    this.#acked = acked;
    // One that failed for a reason of its own may be tried again.
    acked.catch(() => {
      if (this.#stage === "held") this.#acked = null;
    });
    return acked;
  }

  nack(options: NackOptions = {}): Promise<void> {
    return this.#settled(this.nack, () => {
      checkOptions("options", options, ["delay"]);
      const delayMs = durationMs("delay", options.delay ?? 0, { minMs: 0, maxMs: LONGEST_MS });
      return { kind: "return", delayMs, isAttempt: true, reason: "nack() returned it" };
    });
  }

  async extend(deadline: Duration): Promise<void> {
    const leaseMs = durationMs("deadline", deadline, { minMs: 1_000, maxMs: LONGEST_DEADLINE_MS });
    try {
      if (!this.isLive) throw this.#loss ?? this.#lost("settled");
      await this.#home.extend(this, leaseMs);
      if (this.#loss) throw this.#loss;
    } catch (error) {
      throw fromCaller(error, this.extend);
    }
  }

  toJSON(): DeliveryJson {
    return { ...this.#shown, token: String(this.token) };
  }

  [INSPECT](...inspecting: InspectArguments): string {
    return shown("Delivery", this.#shown, inspecting);
  }

  get #shown() {
    const { id, token, attempt, lane, isLive, remainingMs } = this;
    return { id, token, attempt, isLive, remainingMs, ...(lane !== null && { lane }) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Whoever called ack() has its error.
    if (this.#acked) await this.#acked.catch(() => {});
    else if (this.isOpen) await this.nack().catch(ignoreLoss);
  }

  /** Whether it can be settled: it was not, and Redis has not ended it as far as this process knows. */
  get isOpen(): boolean {
    return this.#stage === "held" && (this.#loss === null || this.#loss.reason === "expired");
  }

  get isSettling(): boolean {
    return this.#stage === "settling";
  }

  /** Milliseconds that are left of its lease, settled or not. */
  leftMs(now: Instant): number {
    return leaseLeftMs(now, this.#sentAt, this.#leaseMs);
  }

  /** Settles it with the next request. Redis decides whether that is late, also where the deadline has passed by the local clock. */
  settle(settling: Settling, told: Told): void {
    if (!this.isOpen) {
      told(this.#loss ?? this.#lost("settled"));
      return;
    }
    this.#stage = "settling";
    this.settling = settling;
    this.isSent = false;
    this.#told = told;
    this.#home.settle(this);
  }

  /** Returns it while the program has it. */
  giveUp(reason: DeliveryLossReason, settling: Settling, told: Told): void {
    const wasOpen = this.isOpen;
    this.settle(settling, told);
    if (!wasOpen) return;
    this.#loss = this.#lost(reason);
    this.#tellLost(reason);
    this.#controller?.abort(this.#loss);
  }

  /** Nobody will settle it: it goes back when its deadline passes. */
  abandon(): void {
    this.isKept = false;
    this.beatMs = Number.POSITIVE_INFINITY;
  }

  /** The settlement has ended. @param isRefused the server did not carry it out, and it can be tried again */
  answered(error: HoldfastError | null, isRefused = false): void {
    if (this.#stage !== "settling") return;
    this.#stage = isRefused ? "held" : "over";
    const told = this.#told;
    this.#told = null;
    told?.(error);
  }

  /** Redis says that it is over. */
  late(): void {
    const loss = this.#lost("taken");
    if (this.isSettling) {
      this.#tellLost("taken");
      this.answered(loss);
    } else this.lose("taken");
  }

  /** Its deadline passed before its settlement was sent. */
  expire(): void {
    if (!this.isSettling) return;
    this.#tellLost("expired");
    this.answered(this.#lost("expired"));
  }

  /** Ends it before it was settled. */
  lose(reason: DeliveryLossReason): void {
    if (this.#loss || this.#stage !== "held") return;
    this.#loss = this.#lost(reason);
    this.#tellLost(reason);
    this.#controller?.abort(this.#loss);
  }

  /** An extension that was sent at `sentAt` succeeded. */
  extended(sentAt: Instant, leaseMs: number): void {
    this.#sentAt = sentAt;
    this.#leaseMs = leaseMs;
  }

  /**
   * An extension to `leaseMs` is on its way, and later ones are as long. The shorter of the two leases counts until there is an answer.
   * Returns a function that undoes this, unless another has followed.
   */
  move(sentAt: Instant, leaseMs: number): () => void {
    const [before, beforeMs, keepMs] = [this.#sentAt, this.#leaseMs, this.keepMs];
    this.keepMs = leaseMs;
    this.#movedAt = sentAt;
    if (leaseLeftMs(sentAt, sentAt, leaseMs) < this.leftMs(sentAt)) this.extended(sentAt, leaseMs);
    return () => {
      if (this.#movedAt === sentAt) this.keepMs = keepMs;
      if (this.#sentAt === sentAt) this.extended(before, beforeMs);
    };
  }

  get #handle(): Handle {
    this.#facts ??= parseHandle(this.handle) ?? {
      token: 0n,
      id: "0",
      attempt: 1,
      process: "",
      lane: null,
    };
    return this.#facts;
  }

  #lost(reason: DeliveryLossReason): DeliveryLostError {
    return new DeliveryLostError(this.#home.name, this.id, this.token, reason);
  }

  #tellLost(reason: DeliveryLossReason): void {
    // A delivery that no program has seen is nobody's loss.
    if (!this.isGiven) return;
    const { lane, id, token, attempt } = this.#handle;
    publish(
      "holdfast:queue:lost",
      () => ({ queue: this.#home.name, lane, id, token, attempt, reason }),
      this.context,
    );
  }

  /** Notices an end by the clock for which no timer has rung yet. */
  #noticeExpiry(): void {
    if (this.#stage === "held" && this.leftMs(this.#home.clock.now()) <= 0) this.lose("expired");
  }

  async #settled(method: (...args: never[]) => unknown, settling: () => Settling): Promise<void> {
    try {
      const how = settling();
      await new Promise<void>((resolve, reject) => {
        this.settle(how, (error) => (error ? reject(error) : resolve()));
      });
    } catch (error) {
      throw fromCaller(error, method);
    }
  }
}

/** The message has gone back without us. */
function ignoreLoss(error: unknown): void {
  if (!(error instanceof DeliveryLostError)) throw error;
}
