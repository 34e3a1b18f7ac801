/**
 * Place: the keys under one prefix of one database, as a random id that is kept among them. Channels know no databases, and the
 * channels of one prefix may be those of another that continues it. So a message that carries a state names the place that it speaks
 * of. Whoever listens believes it where that is his own; any other message makes him look.
 *
 * The first who misses the id makes it. After the data was lost, or came back from elsewhere, there may be another one. So an id
 * counts for five seconds, and until the connection breaks. A database that was copied has the same id as its original.
 */
import { type HoldfastError, ServerError } from "../errors.js";
import type { Random } from "../time/random.js";
import type { Alarm, Schedule } from "../time/schedule.js";
import { foreign } from "./foreign.js";
import { placeKey } from "./keys.js";
import { script as placeScript } from "./lua/place.lua.js";
import { NO_PLACE } from "./message.js";
import type { RedisPort } from "./port.js";

export interface PlaceParts {
  readonly port: RedisPort;
  readonly prefix: string;
  readonly schedule: Schedule;
  readonly random: Random;
  readonly callTimeoutMs: number;
}

interface Known {
  readonly id: string;
  /** When the request was sent, on the monotonic clock. */
  readonly askedMs: number;
  readonly disruptions: number;
}

/** For how long an id counts. */
const FRESH_MS = 5_000;
/** When it is read again while it is in use, so that it always counts. */
const RENEW_MS = 2_500;
/** An emitter that found nobody reads an id of this age again. */
const DOUBT_MS = 1_000;
/** Topics that are up again after one break read it together. */
const CONNECTED_MS = 100;
const ID = /^[\w-]{16,64}$/;

export class Place {
  readonly #parts: PlaceParts;
  readonly #key: string;
  #known: Known | null = null;
  /** The id before this one. */
  #before: { readonly id: string; readonly untilMs: number } | null = null;
  #reading: Promise<string> | null = null;
  #wasUsed = false;
  #listeners = 0;
  #alarm: Alarm | null = null;

  constructor(parts: PlaceParts) {
    this.#parts = parts;
    this.#key = placeKey(parts.prefix);
  }

  /** What a message of this process names. Empty: the id is not known well enough, and the message is a hint. */
  get word(): string {
    // Most processes write once and end: nobody needs their id.
    if (!this.#wasUsed) {
      this.#wasUsed = true;
      if (!this.#known) return NO_PLACE;
    }
    return this.#current() ?? NO_PLACE;
  }

  /** Whether a message that names this place is of the keys of this process. */
  isHere(place: string): boolean {
    return place !== NO_PLACE && place === this.#current();
  }

  /** The id, read within the last five seconds or now. @throws {HoldfastError} it could not be read */
  id(): string | Promise<string> {
    return this.#current() ?? this.#read();
  }

  /** The id, read within the last second or now. An emitter that found nobody needs it. @throws {HoldfastError} */
  async checkedId(): Promise<string> {
    return this.#known && this.#ageMs < DOUBT_MS ? this.#known.id : this.#read();
  }

  /** The id, read after this call, and at most once a second. @throws {HoldfastError} */
  async nextId(): Promise<string> {
    const leftMs = DOUBT_MS - this.#ageMs;
    const { schedule } = this.#parts;
    if (leftMs > 0) await new Promise<void>((resolve) => schedule.after(leftMs, resolve));
    return this.#read();
  }

  /**
   * Whether a message names the place that these keys had until just now: who sent it has not read the id since. It tells nothing of
   * the keys that are there.
   */
  wasHere(place: string): boolean {
    const before = this.#before;
    return place === before?.id && this.#parts.schedule.clock.now().monoMs < before.untilMs;
  }

  /** The connection is a new one: its server may have other data. */
  connected(): void {
    if (this.#ageMs >= CONNECTED_MS) this.#read().catch(() => {});
  }

  /** Reads the id again and again, for somebody who listens. Returns a function that ends it. */
  listen(): () => void {
    this.#listeners += 1;
    this.#current();
    this.#watch();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#listeners -= 1;
      if (this.#listeners > 0) return;
      this.#parts.schedule.cancel(this.#alarm);
      this.#alarm = null;
    };
  }

  get #ageMs(): number {
    const known = this.#known;
    if (!known || known.disruptions !== this.#parts.port.disruptions) return Number.POSITIVE_INFINITY;
    return this.#parts.schedule.clock.now().monoMs - known.askedMs;
  }

  /** The id while it counts, else null. Reads it again in time. */
  #current(): string | null {
    const ageMs = this.#ageMs;
    if (ageMs >= RENEW_MS) this.#read().catch(() => {});
    // While the server is away nobody makes another id, and a replica goes on telling what is published there.
    const counts = ageMs < FRESH_MS || this.#parts.port.trouble !== null;
    return counts && this.#known ? this.#known.id : null;
  }

  #watch(): void {
    this.#alarm ??= this.#parts.schedule.after(RENEW_MS, () => {
      this.#alarm = null;
      this.#current();
      this.#watch();
    });
  }

  #read(): Promise<string> {
    this.#reading ??= this.#ask().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #ask(): Promise<string> {
    const { port, schedule, random, callTimeoutMs } = this.#parts;
    const { disruptions } = port;
    const askedMs = schedule.clock.now().monoMs;
    const reply = await port
      .script(placeScript, [this.#key], [random.id()], callTimeoutMs)
      .catch((error: HoldfastError) => {
        if (!(error instanceof ServerError) || error.serverCode !== "WRONGTYPE") throw error;
        throw foreign(this.#key, "", error);
      });
    const id = String(reply);
    if (!ID.test(id)) throw foreign(this.#key, id);
    const former = this.#known?.id;
    if (former !== undefined && former !== id)
      this.#before = { id: former, untilMs: schedule.clock.now().monoMs + FRESH_MS };
    this.#known = { id, askedMs, disruptions };
    return id;
  }
}
