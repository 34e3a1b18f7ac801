/**
 * Circuit breaker: decides whether a call may be sent to Redis now. A call that is sent while Redis cannot answer would wait
 * in the client's own queue. All such calls would arrive together, when their callers no longer want the replies. So no call
 * is sent while the client is not connected, nor after a call without a reply, until a PING has been answered.
 */
import {
  ClosedError,
  type HoldfastError,
  IndeterminateError,
  ServerError,
  UnavailableError,
} from "../errors.js";
import type { Schedule } from "../time/schedule.js";
import type { RedisPort, Reply, ReplyListener } from "./port.js";
import type { Script } from "./script.js";

const PROBE_EVERY_MS = 100;
/**
 * For this long after Redis was last found silent a call is refused at once, and the PING that it causes has nobody
 * waiting for it. A call that comes later waits for its PING: the knowledge is too old to refuse a call by it.
 */
const SILENCE_COUNTS_MS = 10_000;

/** The known facts about an outage. */
interface Outage {
  readonly why: string;
  readonly cause: unknown;
  /** How long the failed call waited. A call with a longer time-out is let through, because Redis may still answer it. */
  readonly withinMs: number;
  /** When a call last had no answer, on the monotonic clock. -Infinity: the client was not connected. */
  readonly silentAtMs: number;
}

type State =
  /** Redis answered, or was not asked yet: calls go through. */
  | { readonly name: "closed"; readonly hasAnswered: boolean }
  /** Redis did not answer, or the client is not connected: calls are refused. */
  | { readonly name: "open"; readonly outage: Outage }
  /** Calls are refused until one PING has its answer. Null: nothing is known yet, and every call waits for the PING. */
  | { readonly name: "probing"; readonly outage: Outage | null; readonly probe: Promise<void> };

export class CircuitBreaker {
  readonly #port: RedisPort;
  readonly #schedule: Schedule;
  readonly #timeoutMs: number;
  #state: State = { name: "closed", hasAnswered: false };
  #nextProbeMs = Number.NEGATIVE_INFINITY;
  /** Whether a call was refused since the last PING was sent. */
  #isWanted = false;

  /** @param timeoutMs the time-out of a PING */
  constructor(port: RedisPort, schedule: Schedule, timeoutMs: number) {
    this.#port = port;
    this.#schedule = schedule;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Returns null when the call may be sent, else the error that it is refused with; every caller gets an error of its
   * own. A promise: the call has to wait for a PING, at most `timeoutMs`, because it is not known whether Redis is there.
   */
  check(timeoutMs: number): HoldfastError | Promise<HoldfastError | null> | null {
    const { trouble, rejectsCalls } = this.#port;
    const state = this.#state;
    if (trouble !== null && rejectsCalls) return this.#refuseUnconnected(trouble);
    if (state.name === "closed") {
      if (trouble === null) return null;
      // A client that connects when it is first used, or is being connected, may have one PING to do so.
      if (!state.hasAnswered) return this.#afterProbe(timeoutMs, null);
    } else {
      const { outage } = state;
      if (trouble === null && (!outage || timeoutMs > outage.withinMs)) return null;
      if (!outage) return this.#afterProbe(timeoutMs, null);
    }
    return trouble === null ? this.#refuse(timeoutMs) : this.#refuseUnconnected(trouble);
  }

  /** To be called when Redis answered. */
  answered(): void {
    if (this.#state.name !== "closed" || !this.#state.hasAnswered)
      this.#state = { name: "closed", hasAnswered: true };
  }

  /** To be called when a call that was sent has failed. A refusal is an answer. */
  failed(error: HoldfastError, timeoutMs: number): void {
    if (error instanceof ServerError) this.answered();
    else if (error instanceof IndeterminateError) this.#unanswered(error, timeoutMs);
  }

  #unanswered(error: HoldfastError, timeoutMs: number): void {
    const known = this.#state.name === "closed" ? null : this.#state.outage;
    const outage = {
      why: error.message,
      cause: error,
      withinMs: Math.max(timeoutMs, known?.withinMs ?? 0),
      silentAtMs: this.#nowMs,
    };
    this.#state = this.#state.name === "probing" ? { ...this.#state, outage } : { name: "open", outage };
    if (this.#port.trouble === null) this.#probe(outage);
  }

  get #nowMs(): number {
    return this.#schedule.clock.now().monoMs;
  }

  /** The client says that it is connected. */
  #refuse(timeoutMs: number): HoldfastError | Promise<HoldfastError | null> {
    const { outage } = this.#state as Exclude<State, { name: "closed" }>;
    const isKnown = outage !== null && this.#nowMs - outage.silentAtMs < SILENCE_COUNTS_MS;
    const began = this.#probe(outage);
    if (began && !isKnown) return this.#afterProbe(timeoutMs, outage);
    if (!began) this.#isWanted = true;
    return this.#error();
  }

  /** The call is not sent. The state from before the break is discarded when the client is connected again. */
  #refuseUnconnected(trouble: string): HoldfastError {
    const known = this.#state.name === "closed" ? null : this.#state.outage;
    const outage: Outage = {
      why: trouble,
      cause: undefined,
      withinMs: Number.POSITIVE_INFINITY,
      ...known,
      silentAtMs: Number.NEGATIVE_INFINITY,
    };
    this.#state = this.#state.name === "probing" ? { ...this.#state, outage } : { name: "open", outage };
    this.#port.connect?.();
    return this.#error();
  }

  async #afterProbe(timeoutMs: number, outage: Outage | null): Promise<HoldfastError | null> {
    this.#probe(outage);
    if (this.#state.name !== "probing") return this.#error();
    const { probe } = this.#state;
    await new Promise<void>((resolve) => {
      const alarm = this.#schedule.after(timeoutMs, resolve);
      void probe.then(() => {
        this.#schedule.cancel(alarm);
        resolve();
      });
    });
    const { name } = this.#state as State;
    return name === "closed" ? null : this.#error();
  }

  #error(): HoldfastError {
    const outage = this.#state.name === "closed" ? null : this.#state.outage;
    const { why = "no answer", cause } = outage ?? {};
    if (cause instanceof ClosedError) return new ClosedError("a call to Redis came");
    return this.#port.unavailable() ?? new UnavailableError(`Redis does not answer (${why})`, { cause });
  }

  /** Whether a PING was sent: there is one at a time, and at most ten in a second. */
  #probe(outage: Outage | null): boolean {
    if (this.#state.name === "probing" || this.#nowMs < this.#nextProbeMs) return false;
    this.#nextProbeMs = this.#nowMs + PROBE_EVERY_MS;
    this.#isWanted = false;
    const probe = this.#port.command(["PING"], this.#timeoutMs).then(
      () => this.answered(),
      (error: Error) => {
        // A server that refuses a PING has answered.
        if (error instanceof ServerError) this.answered();
        else if (this.#state.name === "probing" && this.#state.probe === probe)
          this.#open(error, this.#state.outage);
      },
    );
    this.#state = { name: "probing", outage, probe };
    return true;
  }

  #open(error: Error, known: Outage | null): void {
    const isConnected = this.#port.trouble === null;
    // A PING that a client refused because it was not connected says nothing of Redis once it is.
    if (!isConnected) this.#nextProbeMs = Number.NEGATIVE_INFINITY;
    const silentAtMs = isConnected ? this.#nowMs : Number.NEGATIVE_INFINITY;
    const { why, cause, withinMs } = known ?? { why: error.message, cause: error, withinMs: this.#timeoutMs };
    const outage = { why, cause, withinMs, silentAtMs };
    this.#state = { name: "open", outage };
    // While calls keep coming a PING is always under way, so that the next call finds out at once that Redis is back.
    if (this.#isWanted && isConnected) this.#probe(outage);
  }
}

/** The way to Redis for nouns that can do without it for a while: the breaker refuses calls before they are sent. */
export class BreakerPort implements Pick<RedisPort, "script" | "ask" | "command" | "slotOf"> {
  readonly breaker: CircuitBreaker;
  readonly #port: RedisPort;
  readonly #schedule: Schedule;

  /** @param timeoutMs the time-out of a PING */
  constructor(port: RedisPort, schedule: Schedule, timeoutMs: number) {
    this.breaker = new CircuitBreaker(port, schedule, timeoutMs);
    this.#port = port;
    this.#schedule = schedule;
  }

  /** Why Redis cannot be reached just now, as far as the client knows. Null: it is connected, or does not say. */
  get trouble(): string | null {
    return this.#port.trouble;
  }

  slotOf(key: string): number {
    return this.#port.slotOf(key);
  }

  /** Rejects as the port does. @throws {UnavailableError} the call was not sent */
  script(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    timeoutMs: number,
  ): Promise<Reply> {
    return this.#through(timeoutMs, (leftMs) => this.#port.script(script, keys, args, leftMs));
  }

  /** The same without a promise, unless the call has to wait for a PING. */
  ask(script: Script, words: readonly string[], timeoutMs: number, listener: ReplyListener): void {
    const send = (leftMs: number): void =>
      this.#port.ask(script, words, leftMs, new Watched(this.breaker, leftMs, listener));
    const refusal = this.breaker.check(timeoutMs);
    if (refusal === null) send(timeoutMs);
    else this.#wait(refusal, timeoutMs).then(send, (error: HoldfastError) => listener.failed(error));
  }

  /** Rejects as `script` does. */
  command(args: readonly string[], timeoutMs: number): Promise<Reply> {
    return this.#through(timeoutMs, (leftMs) => this.#port.command(args, leftMs));
  }

  async #through(timeoutMs: number, send: (leftMs: number) => Promise<Reply>): Promise<Reply> {
    const refusal = this.breaker.check(timeoutMs);
    const leftMs = refusal === null ? timeoutMs : await this.#wait(refusal, timeoutMs);
    try {
      const reply = await send(leftMs);
      this.breaker.answered();
      return reply;
    } catch (error) {
      this.breaker.failed(error as HoldfastError, leftMs);
      throw error;
    }
  }

  /** How much of the time-out is left once the call may be sent. @throws {UnavailableError} it may not */
  async #wait(refusal: HoldfastError | Promise<HoldfastError | null>, timeoutMs: number): Promise<number> {
    const { clock } = this.#schedule;
    const sinceMs = clock.now().monoMs;
    const error = await refusal;
    if (error) throw error;
    return Math.max(1, Math.ceil(timeoutMs - (clock.now().monoMs - sinceMs)));
  }
}

/** Tells the breaker what became of a call, and then the caller. */
class Watched implements ReplyListener {
  readonly #breaker: CircuitBreaker;
  readonly #timeoutMs: number;
  readonly #listener: ReplyListener;

  constructor(breaker: CircuitBreaker, timeoutMs: number, listener: ReplyListener) {
    this.#breaker = breaker;
    this.#timeoutMs = timeoutMs;
    this.#listener = listener;
  }

  replied(reply: Reply): void {
    this.#breaker.answered();
    this.#listener.replied(reply);
  }

  failed(error: HoldfastError): void {
    this.#breaker.failed(error, this.#timeoutMs);
    this.#listener.failed(error);
  }
}
