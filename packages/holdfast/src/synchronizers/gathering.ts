/**
 * Gathering: the parties of this process that wait at one barrier. One statement to the server names all of them: it lets new
 * ones arrive, renews those that wait, and says which generation has tripped. It may be repeated at any time, and is:
 * whenever the inbox of this process comes up, because it may have missed a trip, and after a third of the ttl.
 */
import {
  ArrivalLapsedError,
  ClosedError,
  CountMismatchError,
  type HoldfastError,
  IndeterminateError,
  isRefusal,
} from "../errors.js";
import { publish } from "../telemetry/events.js";
import { Pending } from "../time/pending.js";
import { jittered } from "../time/random.js";
import type { Alarm } from "../time/schedule.js";
import { UnderWay } from "../time/under-way.js";
import type { AttendReply, AttendVerdict, BarrierScripts, Trip } from "./barrier-scripts.js";
import type { SynchronizerContext } from "./calls.js";

export interface GatheringSettings {
  readonly name: string;
  readonly size: number;
  readonly ttlMs: number;
  readonly keep: string;
}

/** What this process knows of a barrier, beyond one gathering. */
export interface BarrierKnowledge {
  /** The last generation that a party of this process has passed. */
  passed: bigint;
  /** The present generation when the server last named it; 0n: unknown. */
  present: bigint;
  /** The server's clock at some time of the monotonic clock of this process; null: unknown. */
  clock: { readonly serverUs: number; readonly monoMs: number } | null;
}

export interface GatheringParts {
  readonly context: SynchronizerContext;
  readonly scripts: BarrierScripts;
  readonly settings: GatheringSettings;
  readonly known: BarrierKnowledge;
  readonly processId: string;
  readonly inboxes: string;
  /** Makes the id of an arrival, and passes the messages for it on until it is over. */
  readonly begin: (gathering: Gathering) => string;
  /** The arrival is over. @param isEmpty nobody waits any more */
  readonly end: (id: string, isEmpty: boolean) => void;
}

interface Arrival {
  readonly id: string;
  readonly data: string;
  readonly sinceMs: number;
  generation: bigint;
  waits: boolean;
  /** The server may count it: it waits, or a statement about it has no answer. */
  mayCount: boolean;
  /** A statement about it is under way. */
  isStated: boolean;
  /** It gives up: only a trip still counts. */
  isLeaving: boolean;
  /** It gives up as soon as the server has answered once. */
  readonly once: boolean;
  pending: Pending<Trip | null>;
}

const RENEW_SHARE = 1 / 3;
const RETRY_SHARE = 1 / 10;
const LONGEST_RETRY_MS = 500;
/** The longest time between two statements: a message may be lost without a break that anybody notices. */
const LOOK_MS = 5_000;
/** Arrivals in one statement. */
const CHUNK = 200;
/** Between two tries of a withdrawal, and the least time for one. */
const LEAST_TRY_MS = 20;

export class Gathering {
  readonly #parts: GatheringParts;
  readonly #arrivals = new Map<string, Arrival>();
  readonly #leaving = new UnderWay();
  #alarm: Alarm | null = null;
  #isAttending = false;
  #isPlanned = false;
  #isClosed = false;

  constructor(parts: GatheringParts) {
    this.#parts = parts;
  }

  /**
   * Arrives, and waits for the trip. Null: `waitMs` passed before.
   * @throws {ArrivalLapsedError} @throws {CountMismatchError} @throws {ClosedError} @throws the signal's reason
   * @throws {IndeterminateError} it is unknown whether the generation tripped with this arrival; `cause` is why it gave up
   */
  async enter(data: string, waitMs: number, signal: AbortSignal | undefined): Promise<Trip | null> {
    const { context, known, begin, settings } = this.#parts;
    const { schedule } = context;
    const once = waitMs === 0;
    const pending = new Pending<Trip | null>(schedule, {
      waitMs: once ? context.callTimeoutMs : waitMs,
      signal,
      onTimeout: () => this.#leave(arrival, { value: null }),
      onAbort: () => this.#leave(arrival, { error: signal?.reason }),
      onEnd: () => this.#forget(arrival),
    });
    const arrival: Arrival = {
      id: begin(this),
      data,
      sinceMs: schedule.clock.now().monoMs,
      generation: knownGeneration(known),
      waits: false,
      mayCount: false,
      isStated: false,
      isLeaving: false,
      once,
      pending,
    };
    this.#arrivals.set(arrival.id, arrival);
    // Others look there whether this process is alive, and it hears there of a trip.
    context.inbox.open();
    this.plan();
    try {
      const trip = await pending.promise;
      const waitedMs = schedule.clock.now().monoMs - arrival.sinceMs;
      if (trip) {
        const { generation, index } = trip;
        publish("holdfast:barrier:passed", () => ({ barrier: settings.name, generation, index, waitedMs }));
      }
      return trip;
    } catch (error) {
      if (error instanceof ArrivalLapsedError)
        publish("holdfast:barrier:lapsed", () => ({ barrier: settings.name, generation: error.generation }));
      throw error;
    }
  }

  /** Ends every wait, and tells the server. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.leave(() => new ClosedError("hf.close() came before the barrier tripped"));
    await this.#leaving.settled();
  }

  /** Ends every wait. @param error makes one for each */
  leave(error: () => HoldfastError): void {
    for (const arrival of [...this.#arrivals.values()]) this.#leave(arrival, { error: error() });
  }

  #forget(arrival: Arrival): void {
    this.#arrivals.delete(arrival.id);
    this.#parts.end(arrival.id, this.#arrivals.size === 0);
    if (this.#arrivals.size > 0) return;
    this.#parts.context.schedule.cancel(this.#alarm);
    this.#alarm = null;
  }

  /** A message said that a generation has tripped with an arrival of this process. */
  hear(id: string, trip: Trip, hasData: boolean): void {
    const arrival = this.#arrivals.get(id);
    if (arrival && !hasData) this.#pass(arrival, trip);
    else this.plan();
  }

  #pass(arrival: Arrival, trip: Trip): void {
    if (arrival.pending.isOver) return;
    const { known } = this.#parts;
    if (trip.generation > known.passed) known.passed = trip.generation;
    arrival.pending.resolve(trip);
  }

  /** States at the end of this turn of the event loop who waits, unless a statement is under way: then after it. */
  plan(): void {
    if (this.#isPlanned || this.#isClosed) return;
    this.#isPlanned = true;
    if (!this.#isAttending) process.nextTick(() => void this.#attend());
  }

  async #attend(): Promise<void> {
    this.#isAttending = true;
    while (this.#isPlanned) {
      this.#isPlanned = false;
      const all = [...this.#arrivals.values()].filter(({ isLeaving }) => !isLeaving);
      for (let start = 0; start < all.length; start += CHUNK)
        await this.#attendSome(all.slice(start, start + CHUNK));
    }
    this.#isAttending = false;
  }

  async #attendSome(arrivals: readonly Arrival[]): Promise<void> {
    const { context, scripts, settings, known, processId, inboxes } = this.#parts;
    const { ttlMs } = settings;
    const retryMs = Math.min(ttlMs * RETRY_SHARE, LONGEST_RETRY_MS);
    context.inbox.open();
    context.inbox.doubt();
    const timeoutMs = Math.min(context.callTimeoutMs, ttlMs);
    const sentMs = context.schedule.clock.now().monoMs;
    this.#attendIn(context.inbox.up ? Math.min(ttlMs * RENEW_SHARE, LOOK_MS) : retryMs);
    for (const arrival of arrivals) arrival.isStated = true;
    try {
      const reply = await scripts.attend(arrivals, {
        ...settings,
        floor: known.passed,
        notAfterUs: serverUsAt(known, sentMs + timeoutMs),
        processId,
        inboxes,
        isListening: context.inbox.up,
        listensElsewhere: !context.port.zeroListenersMeansGone,
        owner: context.owner,
        timeoutMs,
      });
      this.#settle(arrivals, reply, sentMs);
    } catch (error) {
      const isRefused = isRefusal(error);
      for (const arrival of arrivals) {
        arrival.mayCount ||= !isRefused;
        if (arrival.once || (isRefused && !error.passing)) this.#leave(arrival, { error });
      }
      this.#attendIn(retryMs);
    } finally {
      for (const arrival of arrivals) arrival.isStated = false;
    }
  }

  #settle(arrivals: readonly Arrival[], reply: AttendReply, sentMs: number): void {
    const { settings, known } = this.#parts;
    if (reply.size !== null) {
      const { name, size } = settings;
      for (const { pending } of arrivals)
        pending.reject(new CountMismatchError("barrier", name, size, reply.size));
      return;
    }
    known.present = reply.generation;
    known.clock = { serverUs: reply.nowUs, monoMs: sentMs };
    for (const [place, arrival] of arrivals.entries())
      this.#take(arrival, reply.verdicts[place] as AttendVerdict, reply.generation);
    if (reply.againMs > 0) this.#attendIn(reply.againMs);
  }

  #take(arrival: Arrival, verdict: AttendVerdict, generation: bigint): void {
    if (verdict.kind === "tripped") {
      this.#pass(arrival, verdict);
      return;
    }
    // A party that is to ask again may have an earlier statement on its way.
    if (verdict.kind !== "ask-again") arrival.mayCount = verdict.kind === "waits";
    if (arrival.isLeaving || arrival.pending.isOver) return;
    switch (verdict.kind) {
      case "waits":
        arrival.generation = generation;
        arrival.waits = true;
        if (arrival.once) this.#leave(arrival, { value: null });
        break;
      case "ask-again":
        arrival.generation = generation;
        this.plan();
        break;
      default: {
        const { name } = this.#parts.settings;
        this.#leave(arrival, { error: new ArrivalLapsedError(name, arrival.generation) });
      }
    }
  }

  #attendIn(delayMs: number): void {
    const { schedule, random } = this.#parts.context;
    schedule.cancel(this.#alarm);
    this.#alarm =
      this.#arrivals.size > 0 ? schedule.after(jittered(random, delayMs, 0.3), () => this.plan()) : null;
  }

  /** Gives up. The server says whether the generation has tripped meanwhile: then the wait succeeds. */
  #leave(arrival: Arrival, otherwise: { readonly value: null } | { readonly error: unknown }): void {
    if (arrival.isLeaving || arrival.pending.isOver) return;
    arrival.isLeaving = true;
    const left = this.#withdraw(arrival).then(
      (trip) => {
        if (trip) this.#pass(arrival, trip);
        else if ("error" in otherwise) arrival.pending.reject(otherwise.error);
        else arrival.pending.resolve(null);
      },
      (error: unknown) => {
        const reason = "error" in otherwise ? otherwise.error : error;
        arrival.pending.reject(arrival.mayCount || arrival.isStated ? doubtful(error, reason) : reason);
      },
    );
    this.#leaving.add(left);
  }

  /** Within one call time-out. A call that fails at once, because its connection broke, is repeated. */
  async #withdraw(arrival: Arrival): Promise<Trip | null> {
    const { context, scripts } = this.#parts;
    const { clock } = context.schedule;
    const untilMs = clock.now().monoMs + context.callTimeoutMs;
    for (;;) {
      const leftMs = untilMs - clock.now().monoMs;
      try {
        return await scripts.withdraw(arrival, leftMs);
      } catch (error) {
        const isOver = clock.now().monoMs > untilMs - LEAST_TRY_MS;
        const isFinal = isRefusal(error) ? !error.passing : !(error instanceof IndeterminateError);
        if (isOver || isFinal || arrival.pending.isOver) throw error;
        await new Promise<void>((resolve) => context.schedule.after(LEAST_TRY_MS, resolve));
      }
    }
  }
}

/**
 * The withdrawal of a party that waits was refused, had no answer, or could not be sent: until its lease expires, a generation may count it.
 * @param reason for which the party gives up
 */
function doubtful(error: unknown, reason: unknown): IndeterminateError {
  if (reason instanceof IndeterminateError) return reason;
  const why = error instanceof Error ? error.message : String(error);
  return new IndeterminateError(`the party could not withdraw (${why})`, { cause: reason });
}

/** 0: the server's clock is unknown, and a statement is about those that wait alone. */
function serverUsAt({ clock }: BarrierKnowledge, monoMs: number): number {
  return clock ? Math.round(clock.serverUs + (monoMs - clock.monoMs) * 1_000) : 0;
}

/** No generation before it can have an arrival that begins now. */
function knownGeneration({ passed, present }: BarrierKnowledge): bigint {
  if (passed > present) return passed;
  return present;
}
