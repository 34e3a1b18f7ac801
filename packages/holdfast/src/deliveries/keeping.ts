/**
 * Keeping: the deliveries that a process has from one queue. It extends them all with one request, ends each on time by the local
 * clock, and has one timer for all of them.
 */
import { type HoldfastError, IndeterminateError } from "../errors.js";
import { LinkedList } from "../linked-list.js";
import type { Clock, Instant } from "../time/clock.js";
import { jittered, type Random } from "../time/random.js";
import type { Alarm, Schedule } from "../time/schedule.js";
import type { HeldDelivery } from "./delivery.js";
import { FIRST_LEASE_MS } from "./delivery-calls.js";
import type { ParcelScripts } from "./delivery-scripts.js";
import type { TakerContext } from "./taker.js";

/** The exchange, as its keeping uses it. */
export interface KeepingHome {
  /** Nobody has begun with the delivery, and its first lease has to be extended now. */
  giveBack(delivery: HeldDelivery): void;
  /** The lease of a delivery that was being settled ended without an answer. */
  unanswered(delivery: HeldDelivery): void;
  /** The deadline of a delivery passed by the local clock, and Redis may not know. */
  expired(delivery: HeldDelivery): void;
  troubled(error: HoldfastError): void;
}

/** The first extension: it follows early, because it shows whether a gift came late. */
const FIRST_BEAT_MS = FIRST_LEASE_MS / 3;
/** At least so often the clock is looked at, because timers stand still while a machine is suspended. */
const PULSE_MS = 1_000;
/** A delivery that is due this soon is taken along. */
const EARLY_MS = 100;
const SHORTEST_RETRY_MS = 100;
/** Handles in one request. */
const CHUNK = 500;

export class Keeping {
  readonly #home: KeepingHome;
  readonly #parcels: Pick<ParcelScripts, "extend">;
  readonly #random: Random;
  readonly #schedule: Schedule;
  readonly #clock: Clock;
  readonly #deliveries = new LinkedList<HeldDelivery>();
  /** Deliveries that are secured at the end of this turn, by their deadline. */
  readonly #insecure = new Map<
    number,
    { readonly deliveries: HeldDelivery[]; readonly secured: Promise<void> }
  >();
  #alarm: Alarm | null = null;

  constructor(
    { schedule, random }: Pick<TakerContext, "schedule" | "random">,
    parcels: Pick<ParcelScripts, "extend">,
    home: KeepingHome,
  ) {
    this.#home = home;
    this.#parcels = parcels;
    this.#random = random;
    this.#schedule = schedule;
    this.#clock = schedule.clock;
  }

  get size(): number {
    return this.#deliveries.size;
  }

  /** @param inMs when it is extended first */
  add(delivery: HeldDelivery, now: Instant, inMs = FIRST_BEAT_MS): void {
    // The answer that brought it may have been slow.
    delivery.beatMs = now.monoMs + Math.min(inMs, Math.max(delivery.leftMs(now) / 2, 0));
    this.#deliveries.add(delivery);
    // An alarm rings at least once in a pulse, so one that is set is early enough for most.
    if (!this.#alarm || this.#alarm.dueMs > delivery.beatMs) this.#ringAt(delivery.beatMs);
  }

  /** The program has begun with a delivery that waited, or moves its deadline. */
  begin(delivery: HeldDelivery, now: Instant): void {
    // It came a short while ago. One that is uncertain is confirmed at once.
    if (delivery.beatMs > now.monoMs)
      delivery.beatMs = now.monoMs + Math.min(FIRST_BEAT_MS, delivery.leftMs(now) / 2);
  }

  delete(delivery: HeldDelivery): void {
    this.#deliveries.delete(delivery);
  }

  has(delivery: HeldDelivery): boolean {
    return this.#deliveries.has(delivery);
  }

  toArray(): HeldDelivery[] {
    return this.#deliveries.toArray();
  }

  close(): void {
    this.#schedule.cancel(this.#alarm);
    this.#alarm = null;
  }

  #ringAt(dueMs: number): void {
    this.#schedule.cancel(this.#alarm);
    this.#alarm = this.#schedule.at(dueMs, this.#ring);
  }

  readonly #ring = (): void => {
    this.#alarm = null;
    const now = this.#clock.now();
    const due: HeldDelivery[] = [];
    for (const delivery of this.#deliveries.toArray()) {
      // A listener of one that ends may settle others.
      if (!this.has(delivery)) continue;
      if (delivery.leftMs(now) <= 0) this.#mayExpire(delivery);
      else if (!delivery.isSettling && delivery.beatMs <= now.monoMs + EARLY_MS) due.push(delivery);
    }
    this.#extendAll(due, now);
    this.#arm(now);
  };

  #arm(now: Instant): void {
    if (this.#deliveries.size === 0) return;
    let nextMs = now.monoMs + PULSE_MS;
    for (let delivery = this.#deliveries.first; delivery; delivery = delivery.next) {
      const endMs = now.monoMs + delivery.leftMs(now);
      nextMs = Math.min(nextMs, endMs, delivery.isSettling ? endMs : delivery.beatMs);
    }
    if (!this.#alarm || this.#alarm.dueMs > nextMs) this.#ringAt(Math.max(nextMs, now.monoMs + 1));
  }

  /** Nobody here counts on a delivery whose deadline is being confirmed: the answer says whether it is over. */
  #mayExpire(delivery: HeldDelivery): void {
    const isAsked = delivery.isTaken && !delivery.isGiven && !delivery.isSettling && delivery.extending > 0;
    if (!isAsked) this.#expire(delivery);
  }

  #expire(delivery: HeldDelivery): void {
    this.delete(delivery);
    if (delivery.isSettling) this.#home.unanswered(delivery);
    else if (delivery.isGiven) {
      this.#home.expired(delivery);
      delivery.lose("expired");
    } else this.#home.giveBack(delivery);
  }

  #extendAll(due: readonly HeldDelivery[], now: Instant): void {
    const byLease = new Map<number, HeldDelivery[]>();
    for (const delivery of due) {
      if (!delivery.isTaken) {
        this.#home.giveBack(delivery);
        continue;
      }
      const same = byLease.get(delivery.keepMs);
      if (same) same.push(delivery);
      else byLease.set(delivery.keepMs, [delivery]);
    }
    for (const [leaseMs, deliveries] of byLease) {
      for (let start = 0; start < deliveries.length; start += CHUNK)
        void this.#extend(deliveries.slice(start, start + CHUNK), leaseMs, now);
    }
  }

  async #extend(deliveries: readonly HeldDelivery[], leaseMs: number, sentAt: Instant): Promise<void> {
    // The next try does not wait for an answer, which may never come.
    const retryMs = Math.max(Math.min(leaseMs / 3, FIRST_BEAT_MS), SHORTEST_RETRY_MS);
    for (const delivery of deliveries) {
      delivery.beatMs = sentAt.monoMs + retryMs;
      delivery.extending += 1;
    }
    let over: ReadonlySet<string>;
    try {
      over = new Set(
        await this.#parcels.extend(
          deliveries.map(({ handle }) => handle),
          leaseMs,
        ),
      );
    } catch (error) {
      this.#home.troubled(error as HoldfastError);
      return;
    } finally {
      for (const delivery of deliveries) delivery.extending -= 1;
    }
    const now = this.#clock.now();
    for (const delivery of deliveries)
      this.#settle(delivery, now, sentAt, over.has(delivery.handle) ? 0 : leaseMs);
    this.#arm(now);
  }

  /** Resolves when the delivery has its whole deadline, or is over, or nobody can tell. Those of one turn travel in one request. */
  secure(delivery: HeldDelivery): Promise<void> {
    const { keepMs } = delivery;
    const same = this.#insecure.get(keepMs);
    if (same) {
      same.deliveries.push(delivery);
      return same.secured;
    }
    const deliveries = [delivery];
    const secured = new Promise<void>((resolve) => {
      process.nextTick(() => {
        this.#insecure.delete(keepMs);
        resolve(this.#extend(deliveries, keepMs, this.#clock.now()));
      });
    });
    this.#insecure.set(keepMs, { deliveries, secured });
    return secured;
  }

  /** The program moves the deadline. @throws {HoldfastError} the shorter of both counts where there was no answer */
  async extendNow(delivery: HeldDelivery, leaseMs: number): Promise<void> {
    const sentAt = this.#clock.now();
    const undo = delivery.move(sentAt, leaseMs);
    // There may be no answer.
    if (delivery.isKept) this.begin(delivery, sentAt);
    this.#arm(sentAt);
    try {
      const over = await this.#parcels.extend([delivery.handle], leaseMs);
      const now = this.#clock.now();
      this.#settle(delivery, now, sentAt, over.length > 0 ? 0 : leaseMs);
      this.#arm(now);
    } catch (error) {
      if (!(error instanceof IndeterminateError)) undo();
      throw error;
    }
  }

  #settle(delivery: HeldDelivery, now: Instant, sentAt: Instant, leaseMs: number): void {
    if (!this.has(delivery) || delivery.isSettling) return;
    if (leaseMs === 0) {
      this.delete(delivery);
      delivery.lose("taken");
    } else if (delivery.isGiven && delivery.leftMs(now) <= 0) {
      this.#expire(delivery);
    } else {
      delivery.extended(sentAt, leaseMs);
      delivery.isSecured = true;
      delivery.beatMs = delivery.isKept
        ? sentAt.monoMs + jittered(this.#random, leaseMs / 3)
        : Number.POSITIVE_INFINITY;
    }
  }
}
