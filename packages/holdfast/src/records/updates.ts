/**
 * Updates: read, change, write back, with every change in the value once. The updates of one record in one process queue, and each
 * hands the state that it wrote to the next. A function that takes too long gives up its turn, and its update goes on beside the others. A refused write brings the newest state along, so a retry is one request. The process whose
 * update has failed for the longest time gets a turn, in which the server refuses the updates of all others (write.lua): so each gets
 * through, however many there are.
 */
import { ClosedError, DeadlockError, IndeterminateError } from "../errors.js";
import type { Fenced } from "../fencing/fenced.js";
import { type Enclosing, innermost, Scope } from "../scopes.js";
import { publish } from "../telemetry/events.js";
import { orAborted } from "../time/abort.js";
import { Pending } from "../time/pending.js";
import type { Alarm } from "../time/schedule.js";
import { encodeValue } from "../values.js";
import type { RecordContext, RecordStore, UpdateClaim } from "./record-store.js";
import type { RecordTarget } from "./settings.js";
import { decodeStored, type PutOutcome, refusalOf, type StoredRecord, versionOf } from "./state.js";

export interface UpdateSettings {
  readonly retries: number;
  readonly fence: Fenced | null;
  readonly signal: AbortSignal | undefined;
}

/** Returns the new value; undefined leaves the record as it is. */
export type Change = (value: unknown, version: bigint) => unknown;

export interface Updated {
  readonly value: unknown;
  readonly version: bigint;
}

/** The updates of one record in this process. */
interface Lane {
  readonly waiting: Set<Pending<void>>;
  /** The update whose turn it is. */
  turn: Turn | null;
  /** The state that the last update left; null: it must be read. */
  known: Seen | null;
}

/** An update, and a scope while the caller's function runs. */
class Turn implements Enclosing {
  readonly updates: Updates;
  readonly target: RecordTarget;
  readonly change: Change;
  readonly settings: UpdateSettings;
  isLive = false;

  constructor(updates: Updates, target: RecordTarget, change: Change, settings: UpdateSettings) {
    this.updates = updates;
    this.target = target;
    this.change = change;
    this.settings = settings;
  }
}

interface Attempt {
  readonly target: RecordTarget;
  readonly stored: StoredRecord;
  readonly text: string;
  readonly settings: UpdateSettings;
  /** The server's clock when this update first failed; "0" before that. */
  readonly since: string;
  /** What the caller's function took. */
  readonly workMs: number;
}

/** A record as an answer of the server had it. */
interface Seen {
  readonly stored: StoredRecord;
  /** When the request was sent, on the monotonic clock. */
  readonly sentMs: number;
}

type Attempted =
  | { readonly version: string }
  | { readonly refusal: Exclude<PutOutcome, { kind: "written" }>; readonly since: string };

/** How often a write whose answer was lost is sent again. */
const RESENDS = 2;
const RESEND_MS = 50;
/** A turn lasts for this many times what the last attempt took, within these bounds. */
const TURN_FACTOR = 3;
const SHORTEST_TURN_MS = 20;
const LONGEST_TURN_MS = 10_000;
/** Others should not wait for one that has lost its connection. */
const LONGEST_ROUND_MS = 100;
/** For how long a function of a caller holds up the other updates of its record in this process, at most. */
const LONGEST_CHANGE_MS = 10_000;
/** Part of another's turn after which an update asks again, at most. */
const YIELD_SHARE = 0.25;

type UpdateContext = Pick<RecordContext, "schedule" | "random" | "self">;

export class Updates {
  readonly #store: RecordStore;
  readonly #context: UpdateContext;
  readonly #lanes = new Map<string, Lane>();
  readonly #pauses = new Set<Pending<void>>();
  #closed = false;
  /** A function of a caller has returned a promise, or will: one that does so first is found out by its next call. */
  #areAsync = false;

  constructor(store: RecordStore, context: UpdateContext) {
    this.#store = store;
    this.#context = context;
  }

  /** @throws {DeadlockError} the caller is in an update of this record */
  async run(target: RecordTarget, change: Change, settings: UpdateSettings): Promise<Updated> {
    settings.signal?.throwIfAborted();
    this.#assertOutside(target);
    const beganMs = this.#nowMs();
    const turn = new Turn(this, target, change, settings);
    const lane = await this.#enter(turn);
    const { known } = lane;
    lane.known = null;
    try {
      const { updated, seen } = await this.#update(turn, known, beganMs);
      if (lane.turn === turn) lane.known = seen;
      return updated;
    } finally {
      this.#passOn(turn);
    }
  }

  /** Ends the waits. An update that is under way ends with its next request, or while a function of the caller runs. */
  close(): void {
    this.#closed = true;
    const waits = [...this.#pauses, ...[...this.#lanes.values()].flatMap(({ waiting }) => [...waiting])];
    for (const wait of waits) wait.reject(closedError());
  }

  #assertOutside({ name, key }: RecordTarget): void {
    const isInside = innermost((what) =>
      what instanceof Turn && what.updates === this && what.target.key === key ? what : null,
    );
    if (!isInside) return;
    const { self, schedule } = this.#context;
    const owner = { ...self, sinceMs: schedule.clock.now().wallMs, fence: 0n };
    throw new DeadlockError([{ noun: "record", name, owner, fence: 0n }]);
  }

  async #enter(turn: Turn): Promise<Lane> {
    const { key } = turn.target;
    let lane = this.#lanes.get(key);
    if (lane) {
      await this.#wait(Number.POSITIVE_INFINITY, turn.settings.signal, lane.waiting);
    } else {
      lane = { waiting: new Set<Pending<void>>(), turn, known: null };
      this.#lanes.set(key, lane);
    }
    lane.turn = turn;
    return lane;
  }

  /** The next one has its turn, unless this one gave up its own before. */
  #passOn(turn: Turn): void {
    const { key } = turn.target;
    const lane = this.#lanes.get(key);
    if (lane?.turn !== turn) return;
    lane.turn = null;
    const [next] = lane.waiting;
    if (!next) {
      this.#lanes.delete(key);
      return;
    }
    lane.waiting.delete(next);
    next.resolve();
  }

  async #update(turn: Turn, known: Seen | null, beganMs: number): Promise<{ updated: Updated; seen: Seen }> {
    const { target, settings } = turn;
    const { signal, retries, fence } = settings;
    let seen = known ?? (await this.#read(turn));
    // What an update of before left in memory may be older than this one, and nothing has compared the fence with it.
    let isSure = known === null || (known.sentMs > beganMs && !fence);
    let since = "0";
    for (let conflicts = 0; ; ) {
      signal?.throwIfAborted();
      const startMs = this.#nowMs();
      const { stored } = seen;
      const before = stored.text === null ? null : decodeStored(target.key, stored.text);
      const value = await this.#change(turn, before, versionOf(stored));
      if (value === undefined) {
        if (!isSure) seen = await this.#read(turn);
        isSure = true;
        if (versionOf(seen.stored) === versionOf(stored))
          return { updated: { value: before, version: versionOf(stored) }, seen };
        continue;
      }
      const text = encodeValue("value", value);
      const sentMs = this.#nowMs();
      const attempt = await this.#attempt({
        target,
        stored,
        text,
        settings,
        since,
        workMs: sentMs - startMs,
      });
      if ("version" in attempt) {
        const { version } = attempt;
        const updated = { value, version: BigInt(version) };
        return { updated, seen: { stored: { text, version }, sentMs } };
      }
      since = attempt.since;
      if (attempt.refusal.kind !== "conflict")
        throw refusalOf(attempt.refusal, this.#about(target, stored, settings));
      conflicts += 1;
      if (conflicts > retries) throw refusalOf(attempt.refusal, this.#about(target, stored, settings));
      publish("holdfast:record:conflict", () => ({ record: target.name, conflicts }));
      seen = { stored: attempt.refusal.stored, sentMs };
      isSure = true;
    }
  }

  /** With a fence it enters first, as the write would. */
  async #read({ target, settings: { fence, signal } }: Turn): Promise<Seen> {
    const sentMs = this.#nowMs();
    const read = fence ? this.#store.enter(target, fence) : this.#store.read(target);
    return { stored: await orAborted(read, signal), sentMs };
  }

  async #change(turn: Turn, before: unknown, version: bigint): Promise<unknown> {
    const { schedule } = this.#context;
    // A function that returns at once needs no scope, and a scope costs every promise of the process.
    this.#areAsync ||= turn.change.constructor.name === "AsyncFunction";
    const call = () => turn.change(before, version);
    let alarm: Alarm | null = null;
    turn.isLive = true;
    try {
      const changed = this.#areAsync ? new Scope(turn).run(call) : call();
      if (isPromise(changed)) {
        this.#areAsync = true;
        alarm = schedule.after(LONGEST_CHANGE_MS, () => this.#passOn(turn));
      }
      return isPromise(changed) ? await this.#orEnded(changed, turn.settings.signal) : changed;
    } finally {
      turn.isLive = false;
      schedule.cancel(alarm);
    }
  }

  /** Ends before a function of the caller's that hangs. */
  async #orEnded(changed: PromiseLike<unknown>, signal: AbortSignal | undefined): Promise<unknown> {
    const ended = this.#pending(Number.POSITIVE_INFINITY, signal, this.#pauses);
    return Promise.race([changed, ended.promise]).finally(() => ended.resolve());
  }

  /** Writes as soon as no other update has its turn. */
  async #attempt(attempt: Attempt): Promise<Attempted> {
    const { stored, settings } = attempt;
    let { since } = attempt;
    for (let [pauseMs, roundMs] = [0, 0]; ; ) {
      settings.signal?.throwIfAborted();
      const sentMs = this.#nowMs();
      const needMs = attempt.workMs + Math.min(roundMs, LONGEST_ROUND_MS);
      const holdMs = Math.min(Math.max(SHORTEST_TURN_MS, needMs * TURN_FACTOR), LONGEST_TURN_MS);
      const outcome = await orAborted(this.#write(attempt, { since, holdMs }), settings.signal);
      if (outcome.kind === "written") return { version: outcome.version };
      if (outcome.kind !== "conflict") return { refusal: outcome, since };
      if (since === "0") since = outcome.nowUs;
      roundMs = this.#nowMs() - sentMs;
      if (outcome.turnMs > 0) {
        // It will be over soon, and its value is the one to change then.
        pauseMs = Math.min(Math.max(roundMs, pauseMs * 2), outcome.turnMs * YIELD_SHARE);
        await this.#wait(Math.max(1, pauseMs) * (0.5 + this.#context.random.fraction()), settings.signal);
      }
      if (outcome.stored.version !== stored.version) return { refusal: outcome, since };
    }
  }

  /** A write without an answer is sent again under its number: the server knows whether it carried it out. */
  async #write({ target, stored, text, settings }: Attempt, claim: UpdateClaim): Promise<PutOutcome> {
    const { fence, signal } = settings;
    const number = this.#store.nextNumber();
    const write = { target, text, expected: stored.version, fence, keepMs: target.keepMs };
    let lost: IndeterminateError | null = null;
    for (let resends = 0; ; resends += 1) {
      try {
        return await this.#store.put(write, { number, claim });
      } catch (error) {
        if (error instanceof IndeterminateError) lost ??= error;
        // An earlier copy may have been carried out, so a later refusal says nothing.
        if (!lost || resends === RESENDS || error instanceof ClosedError) throw lost ?? error;
      }
      await this.#wait(RESEND_MS * (0.5 + this.#context.random.fraction()), signal).catch(() => {
        throw lost;
      });
    }
  }

  #about({ name, key }: RecordTarget, stored: StoredRecord, { fence }: UpdateSettings) {
    return { name, key, expected: versionOf(stored), token: fence?.fence ?? 0n };
  }

  async #wait(waitMs: number, signal: AbortSignal | undefined, waits = this.#pauses): Promise<void> {
    await this.#pending(waitMs, signal, waits).promise;
  }

  #pending(waitMs: number, signal: AbortSignal | undefined, waits: Set<Pending<void>>): Pending<void> {
    const isAborted = signal?.aborted ?? false;
    const pending: Pending<void> = new Pending<void>(this.#context.schedule, {
      waitMs,
      signal: isAborted ? undefined : signal,
      onTimeout: (ended) => ended.resolve(),
      onEnd: () => waits.delete(pending),
    });
    waits.add(pending);
    if (this.#closed) pending.reject(closedError());
    else if (isAborted) pending.reject(signal?.reason);
    return pending;
  }

  #nowMs(): number {
    return this.#context.schedule.clock.now().monoMs;
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null)?.then === "function";
}

function closedError(): ClosedError {
  return new ClosedError("hf.close() was called during an update of a record");
}
