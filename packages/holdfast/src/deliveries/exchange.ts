/**
 * Exchange: the requests of one process about one queue. The settlements of a turn of the event loop travel with the next `take`; at
 * most two are under way, each for half of the places, so that the server works while handlers begin.
 *
 * A request without an answer is sent again as it was (Numbered). It may have been carried out, so nothing else is taken meanwhile.
 * Afterwards `leave` returns what its lost reply brought.
 */
import {
  type HoldfastError,
  IndeterminateError,
  isPassing,
  ServerError,
  UnavailableError,
} from "../errors.js";
import type { Instant } from "../time/clock.js";
import { jittered } from "../time/random.js";
import { Resends } from "../time/resends.js";
import type { Alarm, Schedule } from "../time/schedule.js";
import type { HeldDelivery } from "./delivery.js";
import type { DeliveryScripts, Given } from "./delivery-scripts.js";
import type { ExchangeHome, FirstLease } from "./exchange-home.js";
import { Fetches, type FetchesHome } from "./fetches.js";
import { parseHandle } from "./handle.js";
import { Keeping, type KeepingHome } from "./keeping.js";
import type { Lasting } from "./lasting.js";
import { Leaves, type LeavesHome } from "./leaves.js";
import { Numbered } from "./numbered.js";
import { returnOf, Settlements, settlementOf } from "./settlements.js";
import { Standing, type StandingMark } from "./standing.js";

interface Call {
  readonly seq: number;
  readonly want: number;
  readonly acks: readonly HeldDelivery[];
  readonly mark: StandingMark;
  sentAt: Instant;
  isDoubtful: boolean;
}

const MOST_TAKES = 2;
/** So many of 16 kB, of which a larger body is fetched, are 1 MiB on their way to this process: lua/_gift.lua. */
const MOST_WANTED = 64;
const PAUSE_MS = 200;

export class Exchange implements KeepingHome, LeavesHome, FetchesHome {
  readonly keeping: Keeping;
  readonly fetches: Fetches;
  readonly #home: ExchangeHome;
  readonly #scripts: DeliveryScripts;
  readonly #schedule: Schedule;
  readonly #numbered: Numbered;
  readonly #resends: Resends;
  readonly #leaves: Leaves;
  readonly #settlements = new Settlements();
  #takes = 0;
  #isBacking = false;
  /** Messages that the takes under way ask for. */
  #requested = 0;
  readonly #standing = new Standing();
  /** The last take got all that it wanted. */
  #isLoaded = false;
  #doubts = 0;
  #pause: Alarm | null = null;
  #isPlanned = false;
  /** Somebody waits for the answer to a `take`. */
  #isAsked = false;
  #isClosed = false;
  #whenSettled: (() => void) | null = null;
  readonly #flush = (): void => {
    this.#isPlanned = false;
    // First, because a `take` states the free places that `leave` gives up.
    this.#leaves.flush();
    this.#sendBacks();
    this.#sendTakes();
    if (this.#isSettled) this.#whenSettled?.();
  };

  constructor(home: ExchangeHome, scripts: DeliveryScripts, lasting: Lasting) {
    const { schedule, random } = home.context;
    this.#home = home;
    this.#scripts = scripts;
    this.#schedule = schedule;
    this.#numbered = new Numbered(lasting.requests);
    this.#resends = new Resends(schedule, random);
    this.#leaves = new Leaves(scripts.parcels, lasting, this);
    this.keeping = new Keeping(home.context, scripts.parcels, this);
    this.fetches = new Fetches(scripts.parcels, this);
  }

  /** A request that is sent from now on has a higher number. */
  get lastSeq(): number {
    return this.#numbered.last;
  }

  /** Free places of this process that Redis may know of. */
  get mayStand(): boolean {
    return this.#standing.atMost > 0 || this.#takes > 0;
  }

  /** Whether nothing is under way, and Redis knows of no free place. Gives up those of which it may know. */
  mayRest(): boolean {
    if (!this.#isSettled || this.#isPlanned || this.#pause || !this.#leaves.isIdle) return false;
    if (!this.mayStand) return true;
    void this.leave();
    return false;
  }

  /** Asks Redis, whatever it knows. */
  ask(): void {
    this.#isAsked = true;
    this.plan();
  }

  settle(delivery: HeldDelivery): void {
    this.#settlements.add(delivery);
    if (this.#isClosed) this.close();
    else this.plan();
  }

  /** Sends what there is to send at the end of this turn of the event loop. */
  plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    process.nextTick(this.#flush);
  }

  /** A message of the inbox about this name. No handle: take now. No body: it is too large for a message. */
  message(handle?: string, body?: string): void {
    if (handle === undefined) {
      this.refresh();
      return;
    }
    const parsed = parseHandle(handle);
    // Another program may publish anything.
    if (!parsed) return;
    // It is below 2^53 until the year 2255.
    this.#standing.gift(Number(parsed.token));
    if (!this.#leaves.isNew(handle)) return;
    const lease = { sentAt: this.#schedule.clock.now(), isCertain: true };
    if (body !== undefined) this.arrived([{ handle, body }], lease);
    else this.fetches.add(handle, lease);
    this.plan();
  }

  arrived(given: readonly Given[], lease: FirstLease): void {
    this.#home.arrived(given, lease);
  }

  held(): readonly { readonly handle: string }[] {
    return [...this.keeping.toArray(), ...this.fetches.handles];
  }

  found(given: readonly Given[]): void {
    this.arrived(given, { sentAt: this.#schedule.clock.now(), isCertain: false });
  }

  leaveFailed(error: HoldfastError): void {
    // It may not have been carried out.
    this.#standing.doubt();
    this.#failed(error);
  }

  giveBack(delivery: HeldDelivery): void {
    this.#home.giveBack(delivery);
  }

  troubled(error: HoldfastError): void {
    this.#home.troubled(error);
  }

  /** Nothing of its handle must come to a program of this process again. */
  expired({ handle }: HeldDelivery): void {
    this.#leaves.spend(handle);
  }

  /** Redis knows of this number of free places only. */
  stands(free: number): void {
    const isFewer = this.#takes === 0 && free < this.#standing.atLeast;
    if (isFewer) this.#standing.found(free);
    // A gift may be under way, and what the next take returns must not overtake it.
    if (isFewer && this.held().length === 0) void this.leave();
    this.plan();
  }

  /** Takes again, although Redis knows of the free places. */
  refresh(): void {
    this.#standing.forgotten();
    this.#resume();
  }

  /** Messages may have been lost: fetches what was given to this process, and takes again. */
  recover(): void {
    void this.leave();
    this.#resume();
  }

  /** Gives up the free places. What was given to this process, and has not come, comes before it resolves. */
  leave(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#standing.left();
    this.plan();
    return this.#leaves.next();
  }

  /** Resolves when what came by no gift, and is being looked for, has come. */
  whenLeft(): Promise<void> {
    return this.#leaves.settled();
  }

  /** Sends what pauses at once. Resolves when every settlement has an answer, or will have none. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenSettled = resolve;
      this.#resume();
    });
  }

  /** What waits for its turn is not sent, from now on, and nothing is sent again. */
  close(): void {
    this.#isClosed = true;
    for (const delivery of this.#settlements.drop()) this.unanswered(delivery);
    this.#resume();
  }

  get #isSettled(): boolean {
    return this.#numbered.underWay === 0 && this.#settlements.isEmpty;
  }

  #resume(): void {
    this.#schedule.cancel(this.#pause);
    this.#pause = null;
    this.#resends.hurry();
    this.plan();
  }

  #sendTakes(): void {
    while (this.#takes < MOST_TAKES && this.#doubts === 0 && !this.#pause && this.#numbered.mayBegin) {
      const { open, capacity, ahead } = this.#home.demand();
      const room = this.#isLoaded ? open + ahead : open;
      const free = Math.max(room - this.#requested, 0);
      const most = this.#isLoaded ? Math.max(ahead, Math.ceil(capacity / 2)) : MOST_WANTED;
      const hasAcks = this.#settlements.hasAcks;
      const isAsked = this.#isAsked && free > 0;
      const isWorth = this.#takes === 0 ? this.#isShort(free) : this.#isLoaded && free >= Math.max(most, 1);
      if (!hasAcks && !isAsked && !isWorth) return;
      this.#isAsked = false;
      const want = Math.min(free, most, MOST_WANTED);
      const call: Call = {
        seq: this.#numbered.begin(),
        want,
        acks: this.#settlements.nextAcks(),
        mark: this.#standing.mark(),
        sentAt: this.#schedule.clock.now(),
        isDoubtful: false,
      };
      this.#takes += 1;
      this.#requested += want;
      void this.#take(call);
    }
  }

  /** Whether Redis knows of too few free places: of half of the most, where there are more. */
  #isShort(free: number): boolean {
    const known = this.#standing.atLeast;
    return free > MOST_WANTED ? known <= MOST_WANTED / 2 : free > known;
  }

  async #take(call: Call): Promise<void> {
    const { seq, want, acks } = call;
    const settlements = acks.map(settlementOf);
    try {
      const taken = await this.#resends.run({
        send: () => {
          call.sentAt = this.#schedule.clock.now();
          return this.#scripts.take({ seq, acks: settlements, want });
        },
        isWorth: () => this.#isWorth(acks),
        failed: (error) => this.#doubt(call, error),
      });
      this.#over(call);
      const missing = Math.max(want - taken.given.length, 0);
      // Due at once: more waits than one script may take, or there will be more.
      const hasMore = taken.dueInMs === 0;
      this.#isLoaded = want > 0 && (missing === 0 || hasMore);
      this.#standing.answered(call.mark, { missing, newestToken: taken.newestToken, isSure: !hasMore });
      this.#settled(acks, taken.late);
      // A first copy may have taken something, and its answer is lost.
      if (call.isDoubtful && want > 0) void this.leave();
      const given = taken.given.filter(({ handle }) => this.#leaves.isNew(handle));
      const lease = { sentAt: call.sentAt, leaseMs: this.#scripts.calls.firstLeaseMs, isCertain: true };
      if (given.length > 0) this.arrived(given, lease);
      this.#home.answered(seq, taken.dueInMs);
    } catch (error) {
      this.#over(call);
      this.#unsettled(acks, error as HoldfastError);
      this.#failed(error as HoldfastError);
    }
    this.plan();
  }

  #over({ seq, want, mark, isDoubtful }: Call): void {
    this.#numbered.end(seq);
    this.#standing.over(mark);
    this.#takes -= 1;
    this.#requested -= want;
    if (isDoubtful) this.#doubts -= 1;
  }

  #doubt(call: Call, error: HoldfastError): void {
    if (!call.isDoubtful) this.#doubts += 1;
    call.isDoubtful = true;
    this.#standing.doubt();
    this.troubled(error);
  }

  #sendBacks(): void {
    while (this.#settlements.hasReturns && !this.#isBacking && this.#numbered.mayBegin) {
      const backs = this.#settlements.nextReturns();
      if (backs.length > 0) void this.#back(this.#numbered.begin(), backs);
    }
  }

  async #back(seq: number, backs: readonly HeldDelivery[]): Promise<void> {
    this.#isBacking = true;
    const returns = backs.map(returnOf);
    try {
      const late = await this.#resends.run({
        send: () => this.#scripts.back(seq, returns),
        isWorth: () => this.#isWorth(backs),
        failed: (error) => this.troubled(error),
      });
      this.#settled(backs, late);
    } catch (error) {
      this.#unsettled(backs, error as HoldfastError);
      this.#failed(error as HoldfastError);
    }
    this.#isBacking = false;
    this.#numbered.end(seq);
    this.plan();
  }

  #isWorth(settling: readonly HeldDelivery[]): boolean {
    if (this.#isClosed) return false;
    const now = this.#schedule.clock.now();
    return settling.some((delivery) => delivery.isSettling && delivery.leftMs(now) > 0);
  }

  #settled(deliveries: readonly HeldDelivery[], late: readonly string[]): void {
    const refused = late.length > 0 ? new Set(late) : null;
    for (const delivery of deliveries) {
      this.keeping.delete(delivery);
      if (refused?.has(delivery.handle)) delivery.late();
      else delivery.answered(null);
    }
  }

  #unsettled(deliveries: readonly HeldDelivery[], error: HoldfastError): void {
    for (const delivery of deliveries) {
      if (error instanceof IndeterminateError) this.unanswered(delivery, error);
      // It was not carried out, so the program may settle the delivery again. It is kept until then.
      else delivery.answered(error, true);
    }
  }

  /** Nobody knows whether the settlement was carried out. */
  unanswered(delivery: HeldDelivery, cause?: HoldfastError): void {
    if (!delivery.isSettling) return;
    this.keeping.delete(delivery);
    this.expired(delivery);
    const { id, isSent } = delivery;
    const what = `the settlement of message ${id} of '${this.#scripts.name}' had no answer until its deadline`;
    if (isSent) delivery.answered(new IndeterminateError(what, cause && { cause }));
    else delivery.expire();
  }

  #failed(error: HoldfastError): void {
    if (this.#isClosed) return;
    const lasts = !isPassing(error);
    if (lasts) this.#home.refused(() => error);
    // A client that was closed, or gave up, can be connected again.
    if (lasts && !(error instanceof UnavailableError)) return;
    if (!(error instanceof ServerError)) this.#standing.doubt();
    this.troubled(error);
    this.#pause ??= this.#schedule.after(jittered(this.#home.context.random, PAUSE_MS, 0.5), () => {
      this.#pause = null;
      // Without demand nothing hurries: what this process has comes back when its first lease ends.
      if (this.#home.demand().open > 0) this.recover();
      else this.plan();
    });
  }
}
