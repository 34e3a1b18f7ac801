/**
 * Seats: how many callers of this process wait for each signal, as Redis has to know it for `emitOne` and for the count of
 * `emit`. What all callers of one turn of the event loop change is stated in one call, and again every few seconds.
 *
 * A caller that wants to leave states it first: the reply brings whatever was handed to it just then.
 */
import { BoundedMap } from "../bounded-map.js";
import { type HoldfastError, isLasting } from "../errors.js";
import type { RedisContext } from "../redis/context.js";
import { readWords } from "../redis/message.js";
import type { Watch } from "../redis/watcher.js";
import { publish } from "../telemetry/events.js";
import { BatchTimer } from "../time/batch-timer.js";
import { Batcher } from "../time/batcher.js";
import { jittered } from "../time/random.js";
import type { Alarm } from "../time/schedule.js";
import { UnderWay } from "../time/under-way.js";
import { type Copies, copiesOf } from "./ears.js";
import type { Handed, SeatContext, SeatScripts, Statement } from "./seat-scripts.js";

/** A caller that waits for a signal. */
export interface Hearer {
  /** `wait` takes one signal and is done, `reader` takes one after the other, `poller` takes none of `emitOne`. */
  readonly kind: "wait" | "reader" | "poller";
  /** Whether a reader can keep one more. */
  readonly hasRoom: boolean;
  /** Takes a signal of `emitOne`. Returns false when it has no use for it. */
  take(copies: Copies): boolean;
  /** Redis knows that it waits. */
  seated(): void;
  /** Redis has answered since it began to wait. */
  answered(): void;
  /** Redis does not know it yet. The next try follows, unless the error stays. */
  troubled(error: HoldfastError): void;
}

/** The place of one caller in the seat. */
export interface Place {
  /** Resolves when Redis knows that the caller waits no more, or cannot be told. What was handed to it came before. */
  withdraw(): Promise<void>;
  leave(): void;
  /** It has room now, or no room any more. */
  changed(): void;
}

interface Sitting {
  readonly hearer: Hearer;
  isSeated: boolean;
  isAnswered: boolean;
  isWithdrawn: boolean;
}

type Counts = Pick<Statement, "hearers" | "waits" | "room">;

interface Seat {
  readonly name: string;
  readonly sittings: Set<Sitting>;
  readonly unconfirmed: Set<string>;
  /** Number of the last statement. */
  revision: number;
  /** What Redis has, by its reply to the last statement. Null: it has not answered it, or may have lost it. */
  stated: Counts | null;
  /** Until when Redis may take this process for a waiter, on the monotonic clock. */
  knownUntilMs: number;
  /** Resolves with the outcome of the next statement. */
  next: Deferred | null;
}

/** Of a signal that was handed to this process; stuck: nobody here took it, and passing it on has failed. */
type Fate = "given" | "passed on" | "stuck";

interface Deferred {
  readonly promise: Promise<HoldfastError | null>;
  readonly resolve: (error: HoldfastError | null) => void;
}

/** As in _seats.lua. */
const SEAT_MS = 15_000;
const HEARTBEAT_SHARE = 1 / 3;
const RETRY_MS = 500;
const CHUNK = 50;
const REMEMBERED = 4_096;

type Context = SeatContext & Pick<RedisContext, "schedule" | "replica">;

export class Seats {
  readonly #context: Context;
  readonly #scripts: SeatScripts;
  readonly #seats = new Map<string, Seat>();
  readonly #batch: Batcher<Seat>;
  readonly #timer: BatchTimer<Seat>;
  /** The signals that were handed to this process, by id and hop: a second copy is no second signal. */
  readonly #handed = new BoundedMap<string, Fate>(REMEMBERED);
  /** What is being passed on. */
  readonly #passing = new UnderWay();
  /** Numbers the statements of all seats: that of a seat which comes back is above those from before. */
  #revision = 0;
  /** Seats that a caller left in this turn. Often the next caller follows, and nothing has to be stated. */
  readonly #left = new Set<Seat>();
  #leftAlarm: Alarm | null = null;
  /** The inbox of this process at the replica. */
  #replicaInbox: Watch | null = null;

  constructor(context: Context, scripts: SeatScripts) {
    this.#context = context;
    this.#scripts = scripts;
    this.#batch = new Batcher<Seat>(CHUNK, (seats) => void this.#send(seats));
    this.#timer = new BatchTimer<Seat>(context.schedule, {
      visit: (seats) => {
        for (const seat of seats) this.#visit(seat);
      },
      earlyMs: () => (SEAT_MS * HEARTBEAT_SHARE) / 4,
      chunk: CHUNK,
    });
    context.inbox.handle("signal", (words) => this.#message(words));
    context.inbox.serve({ waits: () => this.#seats.size > 0, turned: () => this.#stateAll() });
  }

  /** Begins to wait for a signal of `emitOne`, and to count for `emit`. */
  sit(name: string, hearer: Hearer): Place {
    this.#openInbox();
    const seat = this.#seats.get(name) ?? this.#newSeat(name);
    const sitting: Sitting = {
      hearer,
      isSeated: false,
      isAnswered: false,
      isWithdrawn: false,
    };
    seat.sittings.add(sitting);
    void this.#state(seat);
    return {
      withdraw: async () => {
        sitting.isWithdrawn = true;
        // A caller that has not heard of Redis yet must not take silence for an answer.
        if (!sitting.isAnswered) seat.stated = null;
        await this.#state(seat);
      },
      leave: () => {
        if (seat.sittings.delete(sitting)) this.#stateSoon(seat);
      },
      changed: () => this.#stateSoon(seat),
    };
  }

  /** Resolves when Redis knows of all that has left and of all that was received, or cannot be told. */
  async settle(): Promise<void> {
    await Promise.all([...this.#seats.values()].map((seat) => this.#state(seat)));
    await this.#passing.settled();
  }

  close(): void {
    this.#context.schedule.cancel(this.#leftAlarm);
    for (const seat of [...this.#seats.values()]) this.#forget(seat);
  }

  get #nowMs(): number {
    return this.#context.schedule.clock.now().monoMs;
  }

  #newSeat(name: string): Seat {
    const seat: Seat = {
      name,
      sittings: new Set(),
      unconfirmed: new Set(),
      revision: 0,
      stated: null,
      knownUntilMs: 0,
      next: null,
    };
    this.#seats.set(name, seat);
    return seat;
  }

  #forget(seat: Seat): void {
    this.#timer.delete(seat);
    this.#left.delete(seat);
    if (this.#seats.get(seat.name) === seat) this.#seats.delete(seat.name);
    if (this.#seats.size > 0) return;
    this.#context.inbox.rest();
    this.#replicaInbox?.close();
    this.#replicaInbox = null;
  }

  #openInbox(): void {
    const { inbox, replica } = this.#context;
    inbox.open();
    this.#replicaInbox ??=
      replica?.watcher.watch(inbox.channel, {
        message: (message) => {
          const [verb, ...words] = readWords(message);
          if (verb === "signal") this.#message(words);
        },
        look() {},
        up: () => this.#stateAll(),
      }) ?? null;
  }

  get #isReachable(): boolean {
    return this.#context.inbox.up || (this.#replicaInbox?.up ?? false);
  }

  /** After a break, what was handed over meanwhile comes with the reply. */
  #stateAll(): void {
    for (const seat of this.#seats.values()) {
      seat.stated = null;
      if (seat.sittings.size > 0) void this.#state(seat);
    }
  }

  #stateSoon(seat: Seat): void {
    this.#left.add(seat);
    this.#leftAlarm ??= this.#context.schedule.after(0, () => {
      this.#leftAlarm = null;
      const seats = [...this.#left];
      this.#left.clear();
      for (const one of seats) void this.#state(one);
    });
  }

  #visit(seat: Seat): void {
    seat.stated = null;
    if (seat.sittings.size > 0) this.#context.inbox.open();
    void this.#state(seat);
  }

  /** States the seat at the end of this turn, if Redis does not know it all. Resolves with the error where that failed. */
  #state(seat: Seat): Promise<HoldfastError | null> {
    if (!seat.next) {
      let resolve: Deferred["resolve"] = () => {};
      const promise = new Promise<HoldfastError | null>((settle) => {
        resolve = settle;
      });
      seat.next = { promise, resolve };
      this.#batch.add(seat);
    }
    return seat.next.promise;
  }

  async #send(seats: readonly Seat[]): Promise<void> {
    const isReachable = this.#isReachable;
    const sent = seats.flatMap((seat) => this.#prepare(seat, isReachable) ?? []);
    if (sent.length === 0) return;
    const isSure = this.#replicaInbox?.up ?? false;
    const statements = sent.map(({ statement }) => statement);
    const replies = await this.#scripts.sit(statements, isSure);
    for (const [place, { seat, statement, sittings, next }] of sent.entries()) {
      const reply = replies[place] ?? [];
      if (reply instanceof Error) this.#failed(seat, sittings, reply);
      else this.#knows(seat, statement, sittings, reply, isReachable);
      next?.resolve(reply instanceof Error ? reply : null);
    }
  }

  /** The statement to send. Null: Redis knows it all. */
  #prepare(seat: Seat, isReachable: boolean) {
    const { next } = seat;
    seat.next = null;
    const counts = countsOf(seat);
    const isUnknown = counts.hearers === 0 && seat.knownUntilMs <= this.#nowMs;
    if (seat.unconfirmed.size === 0 && (isUnknown || isSame(seat.stated, counts))) {
      if (isReachable) this.#seated(seat.sittings);
      if (isUnknown && seat.sittings.size === 0) this.#forget(seat);
      next?.resolve(null);
      return null;
    }
    this.#revision += 1;
    seat.revision = this.#revision;
    seat.stated = null;
    if (counts.hearers > 0) seat.knownUntilMs = this.#nowMs + SEAT_MS;
    this.#timer.set(seat, jittered(this.#context.random, SEAT_MS * HEARTBEAT_SHARE, 0.2));
    const { name, revision } = seat;
    const statement: Statement = { name, revision, ...counts, confirmed: [...seat.unconfirmed] };
    return { seat, statement, sittings: [...seat.sittings], next };
  }

  #knows(
    seat: Seat,
    { revision, confirmed, hearers, waits, room }: Statement,
    sittings: readonly Sitting[],
    handed: readonly Handed[],
    isReachable: boolean,
  ): void {
    for (const id of confirmed) seat.unconfirmed.delete(id);
    for (const one of handed) this.#hand(seat.name, one);
    for (const sitting of sittings) {
      sitting.isAnswered = true;
      sitting.hearer.answered();
    }
    if (isReachable) this.#seated(sittings);
    if (revision !== seat.revision) return;
    seat.stated = { hearers, waits, room };
    if (hearers > 0) return;
    seat.knownUntilMs = 0;
    if (seat.sittings.size === 0 && seat.unconfirmed.size === 0 && !seat.next) this.#forget(seat);
  }

  #seated(sittings: Iterable<Sitting>): void {
    for (const sitting of sittings) {
      if (sitting.isSeated || sitting.isWithdrawn) continue;
      sitting.isSeated = true;
      sitting.hearer.seated();
    }
  }

  #failed(seat: Seat, sittings: readonly Sitting[], error: HoldfastError): void {
    for (const { hearer, isSeated } of sittings) if (!isSeated) hearer.troubled(error);
    const isOver = seat.knownUntilMs <= this.#nowMs || isLasting(error);
    if (seat.sittings.size === 0 && isOver && !seat.next) this.#forget(seat);
    else if (this.#seats.get(seat.name) === seat) this.#retrySoon(seat);
  }

  /** @param words name, hop, id, and the data, which may have blanks */
  #message([name = "", hop, id = "", ...data]: readonly string[]): void {
    this.#hand(decodeURIComponent(name), { id, hop: Number(hop), data: data.join(" ") });
  }

  #hand(name: string, handed: Handed): void {
    const seat = this.#seats.get(name) ?? this.#newSeat(name);
    const { id, hop, data } = handed;
    const once = `${id} ${hop}`;
    const fate = this.#handed.get(once);
    const copies = fate ? null : copiesOf(name, data);
    if (fate === "stuck" || (copies && !this.#give(seat, copies))) {
      this.#handed.set(once, "passed on");
      this.#passOn(seat, handed);
      return;
    }
    if (!fate) {
      this.#handed.set(once, "given");
      this.#handed.set(id, "given");
    }
    // Its emitter waits for the confirmation. That of an earlier copy may have been lost.
    if (!this.#handed.get(id)) return;
    seat.unconfirmed.add(id);
    void this.#state(seat);
  }

  #passOn(seat: Seat, handed: Handed): void {
    const signal = seat.name;
    const passing = this.#scripts.passOn(signal, handed).then(
      (isPassedOn) => {
        if (isPassedOn) publish("holdfast:signal:passed-on", () => ({ signal }));
      },
      (error: unknown) => {
        // Redis names it again in its reply to the next statement.
        this.#handed.set(`${handed.id} ${handed.hop}`, "stuck");
        if (isLasting(error)) publish("holdfast:signal:dropped", () => ({ signal, reason: "unanswered" }));
        else if (this.#seats.get(signal) === seat) this.#retrySoon(seat);
      },
    );
    this.#passing.add(passing);
  }

  #retrySoon(seat: Seat): void {
    this.#timer.set(seat, jittered(this.#context.random, RETRY_MS, 0.5));
  }

  /** Gives it to any one of the callers here, and to one that is about to leave where there is no other. */
  #give(seat: Seat, copies: Copies): boolean {
    const able = [...seat.sittings].filter(({ hearer }) => hearer.kind !== "poller");
    const first = Math.floor(this.#context.random.fraction() * able.length);
    const inTurn = [...able.slice(first), ...able.slice(0, first)];
    const gives = (isWithdrawn: boolean): boolean =>
      inTurn.some((sitting) => sitting.isWithdrawn === isWithdrawn && sitting.hearer.take(copies));
    return gives(false) || gives(true);
  }
}

function countsOf(seat: Seat): Counts {
  let [hearers, waits, room] = [0, 0, 0];
  for (const { hearer, isWithdrawn } of seat.sittings) {
    if (isWithdrawn) continue;
    hearers += 1;
    if (hearer.kind === "wait") waits += 1;
    if (hearer.kind === "reader" && hearer.hasRoom) room += 1;
  }
  return { hearers, waits, room };
}

function isSame(stated: Counts | null, { hearers, waits, room }: Counts): boolean {
  return stated?.hearers === hearers && stated.waits === waits && stated.room === room;
}
