/**
 * Watches: the tickets of one lanes name that this process watches, or whose outcomes it awaits. All that are due together are looked up
 * by one script call for at most 250 of them, and those with the same period are due together. A message about an outcome causes a look
 * at once; the next look finds what no message told.
 */
import { type HoldfastError, isLasting } from "../errors.js";
import type { RedisContext } from "../redis/context.js";
import type { StateWaits, WaitReading } from "../redis/state-waits.js";
import type { Stream } from "../stream.js";
import { BatchTimer } from "../time/batch-timer.js";
import type { WaitSettings } from "../time/pending.js";
import { isSamePlace, type Place, type PlaceFacts, placeOver, toPlace } from "./place.js";
import { formatTicket, type Ticket } from "./ticket.js";

/** Where watches read. */
export interface PlaceSource<Outcome> {
  /** The channel with a message for each outcome. */
  channelOf(ticket: Ticket): string;
  /** The places of at most 250 tickets, in their order. @throws {HoldfastError} */
  places(tickets: readonly Ticket[]): Promise<readonly PlaceFacts[]>;
  /** How a message ended that neither waits nor runs. @throws {HoldfastError} */
  outcomeOf(facts: PlaceFacts): Outcome;
}

export interface WatchSettings {
  readonly everyMs: number;
  readonly signal: AbortSignal | undefined;
}

export type PlaceAndOutcome<Outcome> = Place & { readonly outcome?: Outcome };

type WatchContext = Pick<RedisContext, "subscriber" | "schedule"> & {
  readonly inbox: Pick<RedisContext["inbox"], "open" | "rest">;
};

interface PlaceListener<Outcome> {
  /** Called with each place that was read. */
  place(place: Place): void;
  /** Nothing follows. */
  over(outcome: Outcome): void;
  /** A look failed. The next one follows. */
  troubled(error: HoldfastError): void;
}

interface Watching<Outcome> {
  readonly ticket: Ticket;
  readonly everyMs: number;
  readonly listener: PlaceListener<Outcome>;
  isUp: boolean;
  /** A look has begun. */
  hasLooked: boolean;
  /** A look is under way. */
  isLooking: boolean;
  /** Another one must follow it. */
  lookAgain: boolean;
}

/** One script of the server, which serves nobody else meanwhile: about 1 ms. */
const CHUNK = 250;
/** At least so often a look finds an outcome of which no message told. */
const LOOK_MS = 5_000;
/** Within this time, the looks that follow new subscriptions are made together. */
const UP_MS = 50;

export class Watches<Outcome> {
  readonly #context: WatchContext;
  readonly #source: PlaceSource<Outcome>;
  readonly #timer: BatchTimer<Watching<Outcome>>;
  readonly #watching = new Set<Watching<Outcome>>();
  readonly #waits: StateWaits;

  /** @param waits those of all names */
  constructor(context: WatchContext, waits: StateWaits, source: PlaceSource<Outcome>) {
    this.#context = context;
    this.#source = source;
    this.#waits = waits;
    this.#timer = new BatchTimer(context.schedule, {
      visit: (watching) => void this.#look(watching),
      earlyMs: () => 0,
      chunk: CHUNK,
    });
  }

  /** The present place, then each that differs from the one before, and last the outcome. A slow reader gets the newest only. */
  stream(ticket: Ticket, { everyMs, signal }: WatchSettings): Stream<PlaceAndOutcome<Outcome>> {
    return this.#waits.stream(signal, (stream) => {
      let last: Place | null = null;
      let nextMs = 0;
      return this.#listen(ticket, Math.min(everyMs, LOOK_MS), {
        place: (place) => {
          const nowMs = this.#nowMs;
          if (last && (isSamePlace(last, place) || (last.state === place.state && nowMs < nextMs))) return;
          last = place;
          // The looks of a period are not exactly one period apart, and the first one is of no period.
          nextMs = nowMs + 0.9 * everyMs;
          stream.push(place);
        },
        over: (outcome) => {
          stream.push({ ...placeOver(this.#context.schedule.clock.now().wallMs), outcome });
          stream.end();
        },
        troubled: (error) => {
          if (isLasting(error)) stream.fail(error);
        },
      }).stop;
    });
  }

  /**
   * Waits for the outcome. Null: the message waits or runs at the end of the wait.
   * @throws {HoldfastError} the place is unknown at the end of that time, or the server refuses in a way that will not pass
   * @throws {ClosedError} @throws the signal's reason
   */
  wait(ticket: Ticket, settings: WaitSettings): Promise<Outcome | null> {
    return this.#waits.one(settings, (wait) =>
      this.#listen(ticket, LOOK_MS, {
        place: () => wait.known(null),
        over: (outcome) => wait.known({ value: outcome }),
        troubled: (error) => wait.troubled(error),
      }),
    );
  }

  /** @throws {ClosedError} */
  assertOpen(): void {
    this.#waits.assertOpen();
  }

  get isIdle(): boolean {
    return this.#watching.size === 0;
  }

  get #nowMs(): number {
    return this.#context.schedule.clock.now().monoMs;
  }

  #listen(ticket: Ticket, everyMs: number, listener: PlaceListener<Outcome>): WaitReading {
    const one: Watching<Outcome> = {
      ticket,
      everyMs,
      listener,
      isUp: false,
      hasLooked: false,
      isLooking: false,
      lookAgain: false,
    };
    this.#watching.add(one);
    this.#timer.set(one, 0);
    this.#context.inbox.open();
    const subscription = this.#context.subscriber.subscribe(this.#source.channelOf(ticket), {
      message: () => this.#lookAt(one, this.#nowMs),
      up: () => {
        one.isUp = true;
        // A message may have been lost since the last look. Thousands of subscriptions come up one after the other.
        if (one.hasLooked) this.#lookAt(one, (Math.floor(this.#nowMs / UP_MS) + 1) * UP_MS);
      },
      down: () => {
        one.isUp = false;
      },
    });
    return {
      look: () => this.#lookAt(one, this.#nowMs),
      stop: () => {
        this.#watching.delete(one);
        this.#timer.delete(one);
        subscription.close();
        if (this.#watching.size === 0) this.#context.inbox.rest();
      },
    };
  }

  #lookAt(one: Watching<Outcome>, dueMs: number): void {
    if (one.isLooking) one.lookAgain = true;
    else if (this.#watching.has(one)) this.#timer.bringForward(one, dueMs);
  }

  async #look(watching: readonly Watching<Outcome>[]): Promise<void> {
    this.#mendSubscriptions(watching);
    for (const one of watching) {
      one.hasLooked = true;
      one.isLooking = true;
    }
    const { wallMs } = this.#context.schedule.clock.now();
    const tickets = new Map(watching.map(({ ticket }) => [formatTicket(ticket), ticket]));
    try {
      const places = await this.#source.places([...tickets.values()]);
      const found = new Map([...tickets.keys()].map((key, at) => [key, places[at] as PlaceFacts]));
      for (const one of watching) this.#tell(one, found.get(formatTicket(one.ticket)) as PlaceFacts, wallMs);
    } catch (error) {
      for (const one of watching) if (this.#watching.has(one)) one.listener.troubled(error as HoldfastError);
    }
    for (const one of watching) this.#lookLater(one);
  }

  #tell(one: Watching<Outcome>, facts: PlaceFacts, atMs: number): void {
    if (!this.#watching.has(one)) return;
    if (facts.state === "waiting" || facts.state === "running") one.listener.place(toPlace(facts, atMs));
    else {
      try {
        one.listener.over(this.#source.outcomeOf(facts));
      } catch (error) {
        one.listener.troubled(error as HoldfastError);
      }
    }
  }

  /** The looks of one period fall on the same moments, whenever each began: half a period to one and a half from now. */
  #lookLater(one: Watching<Outcome>): void {
    one.isLooking = false;
    if (!this.#watching.has(one)) return;
    const nowMs = this.#nowMs;
    const { everyMs } = one;
    const next = (Math.floor(nowMs / everyMs + 0.5) + 1) * everyMs;
    this.#timer.setAt(one, one.lookAgain ? nowMs : next);
    one.lookAgain = false;
  }

  #mendSubscriptions(watching: readonly Watching<Outcome>[]): void {
    const { subscriber } = this.#context;
    if (watching.some(({ isUp }) => !isUp)) subscriber.revive();
    if (watching.some(({ isUp }) => isUp)) subscriber.doubt();
  }
}
