/**
 * Producer: the pushes of one process to one queue, or to the lanes of one name. The pushes of one turn of the event loop leave
 * together, in one script or a few. At most three scripts are under way. Pushes that come meanwhile wait, and share the next script.
 *
 * A script without an answer is sent again under its number (Numbered), so no push is carried out twice.
 */
import { ClosedError, HoldfastError, IndeterminateError, isLasting, UnavailableError } from "../errors.js";
import { Pending } from "../time/pending.js";
import { jittered, type Random } from "../time/random.js";
import type { Schedule } from "../time/schedule.js";
import type { Lasting } from "./lasting.js";
import { Numbered } from "./numbered.js";

/** What a producer sends: a body, and what belongs to it. */
export interface PushItem {
  readonly body: string;
}

export interface PushBatch<Item> {
  /** Rises. The same number again is the same batch again. */
  readonly seq: number;
  readonly items: readonly Item[];
  /** All or none; else each for itself, in order. */
  readonly isWhole: boolean;
}

/** The push script of a queue, or of lanes. */
export interface Pushes<Item, Pushed> {
  /** What became of each item. @throws {ServerError} @throws {IndeterminateError} */
  send(batch: PushBatch<Item>, timeoutMs: number): Promise<readonly (Pushed | HoldfastError)[]>;
  /** The error of a push that was sent, and may have been carried out. */
  unanswered(item: Item | undefined, cause: HoldfastError): HoldfastError;
}

export interface ProducerContext {
  readonly schedule: Schedule;
  readonly random: Random;
  /** The time-out of a push. */
  readonly callTimeoutMs: number;
}

/** One call of `push`. */
interface Single<Item, Pushed> {
  readonly item: Item;
  readonly resolve: (pushed: Pushed) => void;
  readonly reject: (error: unknown) => void;
}

/** One call of `pushMany`. */
interface Whole<Item, Pushed> {
  readonly items: readonly Item[];
  readonly resolve: (pushed: readonly Pushed[]) => void;
  readonly reject: (error: unknown) => void;
}

type Call<Item, Pushed> = Single<Item, Pushed> | Whole<Item, Pushed>;

const MOST_UNDER_WAY = 3;
const MOST_BODIES = 500;
/** Lua copies every body several times, so larger scripts are slower than two smaller ones. */
const MOST_BYTES = 65_536;
const RESEND_MS = 50;
/** The length of a shorter text is near enough to its bytes. */
const SHORT = 1_000;

export class Producer<Item extends PushItem, Pushed extends object> {
  readonly #pushes: Pushes<Item, Pushed>;
  readonly #context: ProducerContext;
  readonly #numbered: Numbered;
  #waiting: Call<Item, Pushed>[] = [];
  readonly #pauses = new Set<Pending<void>>();
  /** How many of those that wait have waited since the first script without an answer, and when that was; 0: the server answers. */
  #stuck = 0;
  #stuckSinceMs = 0;
  #isPlanned = false;
  #closed = false;
  #whenIdle: (() => void) | null = null;
  readonly #flush = (): void => {
    this.#isPlanned = false;
    while (this.#waiting.length > 0 && this.#maySend) this.#sendNext();
  };

  constructor(pushes: Pushes<Item, Pushed>, context: ProducerContext, lasting: Pick<Lasting, "pushes">) {
    this.#pushes = pushes;
    this.#context = context;
    this.#numbered = new Numbered(lasting.pushes);
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0 && this.#numbered.underWay === 0;
  }

  /** @throws {QueueFullError} @throws {ServerError} @throws {IndeterminateError} @throws {ClosedError} */
  push(item: Item): Promise<Pushed> {
    return new Promise((resolve, reject) => this.#add({ item, resolve, reject }));
  }

  /** Pushes all or none. Errors as for `push`. */
  pushMany(items: readonly Item[]): Promise<readonly Pushed[]> {
    return new Promise((resolve, reject) => this.#add({ items, resolve, reject }));
  }

  /** Ends the pushes that are not sent, and waits for the others. */
  close(): Promise<void> {
    this.#closed = true;
    const unsent = this.#waiting;
    this.#waiting = [];
    for (const call of unsent) call.reject(closedError());
    for (const pause of [...this.#pauses]) pause.resolve();
    if (this.#numbered.underWay === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenIdle = resolve;
    });
  }

  #add(call: Call<Item, Pushed>): void {
    if (this.#closed) call.reject(closedError());
    else if (this.#waiting.push(call) === 1) this.#plan();
  }

  #plan(): void {
    if (this.#isPlanned || !this.#maySend) return;
    this.#isPlanned = true;
    process.nextTick(this.#flush);
  }

  get #maySend(): boolean {
    return this.#numbered.underWay < MOST_UNDER_WAY && this.#numbered.mayBegin;
  }

  #sendNext(): void {
    const first = this.#waiting[0] as Call<Item, Pushed>;
    const calls = this.#waiting.splice(0, "items" in first ? 1 : countTogether(this.#waiting));
    this.#stuck = Math.max(this.#stuck - calls.length, 0);
    void this.#run(this.#numbered.begin(), calls);
  }

  async #run(seq: number, calls: readonly Call<Item, Pushed>[]): Promise<void> {
    try {
      settle(calls, await this.#send(batchOf(seq, calls)));
      this.#stuck = 0;
    } catch (error) {
      if (error instanceof Unanswered) this.#rejectStuck(error.cause);
      for (const call of calls) call.reject(this.#errorFor(call, error));
    }
    this.#numbered.end(seq);
    if (this.#waiting.length > 0) this.#plan();
    else if (this.#numbered.underWay === 0) this.#whenIdle?.();
  }

  /** @throws {Unanswered} @throws {HoldfastError} nothing was pushed */
  async #send(batch: PushBatch<Item>): Promise<readonly (Pushed | HoldfastError)[]> {
    const { schedule, random, callTimeoutMs } = this.#context;
    const endMs = schedule.clock.now().monoMs + callTimeoutMs;
    let lost: IndeterminateError | null = null;
    for (let leftMs = callTimeoutMs; ; ) {
      try {
        return await this.#pushes.send(batch, leftMs);
      } catch (error) {
        if (error instanceof IndeterminateError) lost ??= error;
        if (!lost) throw error;
        // An earlier copy may have been carried out, so a refusal of this one says nothing.
        if (isLasting(error)) throw new Unanswered(lost);
      }
      const pauseMs = jittered(random, RESEND_MS, 0.5);
      leftMs = Math.floor(endMs - schedule.clock.now().monoMs - pauseMs);
      if (leftMs < 1 || this.#closed) throw new Unanswered(lost);
      await this.#pause(pauseMs);
    }
  }

  /** While no script is answered, the calls that wait would become more and more, and wait longer and longer. */
  #rejectStuck(cause: HoldfastError): void {
    const nowMs = this.#context.schedule.clock.now().monoMs;
    if (this.#stuck > 0 && nowMs - this.#stuckSinceMs < this.#context.callTimeoutMs) return;
    for (const call of this.#waiting.splice(0, this.#stuck))
      call.reject(new UnavailableError("none of the last pushes was answered", { cause }));
    this.#stuck = this.#waiting.length;
    this.#stuckSinceMs = nowMs;
  }

  #errorFor(call: Call<Item, Pushed>, error: unknown): unknown {
    if (!(error instanceof Unanswered)) return error;
    return this.#pushes.unanswered("items" in call ? call.items[0] : call.item, error.cause);
  }

  async #pause(waitMs: number): Promise<void> {
    const pause: Pending<void> = new Pending<void>(this.#context.schedule, {
      waitMs,
      onTimeout: (ended) => ended.resolve(),
      onEnd: () => this.#pauses.delete(pause),
    });
    this.#pauses.add(pause);
    await pause.promise;
  }
}

/** How many of the calls at the head, none of them a `pushMany`, fit into one script. At least one. */
function countTogether<Item extends PushItem>(calls: readonly Call<Item, never>[]): number {
  let bytes = 0;
  let count = 0;
  for (const call of calls) {
    if ("items" in call) break;
    const { body } = call.item;
    bytes += body.length < SHORT ? body.length : Buffer.byteLength(body);
    if (count > 0 && (count === MOST_BODIES || bytes > MOST_BYTES)) break;
    count += 1;
  }
  return count;
}

function batchOf<Item>(seq: number, calls: readonly Call<Item, never>[]): PushBatch<Item> {
  const [first] = calls;
  if (first && "items" in first) return { seq, items: first.items, isWhole: true };
  return { seq, items: (calls as readonly Single<Item, never>[]).map(({ item }) => item), isWhole: false };
}

/** @param outcomes one for each item, in their order */
function settle<Pushed extends object>(
  calls: readonly Call<unknown, Pushed>[],
  outcomes: readonly (Pushed | HoldfastError)[],
): void {
  const [first] = calls;
  if (first && "items" in first) {
    const refused = outcomes.find((outcome) => outcome instanceof HoldfastError);
    if (refused) first.reject(refused);
    else first.resolve(outcomes as readonly Pushed[]);
    return;
  }
  for (const [place, call] of calls.entries()) {
    const outcome = outcomes[place];
    if (!outcome || outcome instanceof HoldfastError) call.reject(outcome);
    else (call as Single<unknown, Pushed>).resolve(outcome);
  }
}

/** The request was sent, and nobody knows whether it was carried out. */
class Unanswered extends Error {
  override readonly cause: HoldfastError;

  constructor(cause: HoldfastError) {
    super(cause.message);
    this.cause = cause;
  }
}

function closedError(): ClosedError {
  return new ClosedError("push() was called after hf.close(), or hf.close() came before it was sent");
}
