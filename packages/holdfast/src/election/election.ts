/**
 * Election: at most one leader per name, across processes. Each term has a number that rises, and that the leader's writes carry.
 *
 * Built on  a mutex `election:NAME`, whose lease is the term and whose line is the order of the candidates, and a record
 *           `election:NAME`, in which the leader announces its value under the term as fence.
 * Tests     packages/conformance/src/election/.
 */
import { checkOptions, checkSignal, checkWait, checkWord, refuseSurplus } from "../arguments.js";
import { AcquireTimeoutError, fromCaller, InvalidArgumentError } from "../errors.js";
import type { Lease } from "../lease/lease.js";
import type { LockBackend } from "../locks/backend.js";
import type { Locks } from "../locks/locks.js";
import type { Mutex } from "../locks/mutex.js";
import type { VersionedRecord } from "../records/record.js";
import type { RedisContext } from "../redis/context.js";
import type { WatchedStates } from "../redis/watched-state.js";
import { elapsedMs } from "../time/clock.js";
import { type Duration, durationMs } from "../time/duration.js";
import { encodeValue } from "../values.js";
import { Announcement } from "./announcement.js";
import {
  type Candidate,
  ElectionInspection,
  type ElectionState,
  electionLock,
  type Leader,
} from "./inspection.js";
import { HeldLeadership, type Leadership } from "./leadership.js";

export interface ElectionOptions<Value = unknown> {
  /**
   * How long a leader leads without being able to renew; at least 100 ms. It renews after a third of it, and stays in office for as
   * long as it can. It must be the same in all processes. @default "20s"
   */
  readonly term?: Duration | undefined;
  /** What this process announces when it leads: JSON or bytes, such as its address. @default null */
  readonly value?: Value | undefined;
}

export interface CampaignOptions<Value = unknown> {
  /** Longest wait. 0 makes one attempt. @default Infinity */
  readonly wait?: Duration | undefined;
  /** Ends the campaign when it aborts. It does not end a leadership. @default none */
  readonly signal?: AbortSignal | undefined;
  /** Overrides the value of the election for this leadership. */
  readonly value?: Value | undefined;
}

/** What all elections of a process share. */
export interface ElectionParts {
  readonly context: Pick<RedisContext, "schedule" | "random">;
  readonly locks: Locks;
  readonly backend: LockBackend;
  readonly observed: WatchedStates<ElectionState>;
  record(name: string): VersionedRecord;
}

const DEFAULT_TERM_MS = 20_000;
const SHORTEST_TERM_MS = 100;
const LONGEST_TERM_MS = 2 ** 31 - 1;
/** A lock's name has at most 512 characters. */
const LONGEST_NAME = 512 - electionLock("").length;
/** A lease lapses at the server a moment after its last millisecond. */
const LAPSE_MARGIN_MS = 3;

export class Election<Value = unknown> {
  readonly name: string;
  readonly #parts: ElectionParts;
  readonly #mutex: Mutex;
  readonly #record: VersionedRecord;
  readonly #inspection: ElectionInspection;
  readonly #value: Value | null;
  /** The leaderships that nobody has resigned from. */
  readonly #leaderships = new Set<HeldLeadership<Value>>();

  /** Made by `hf.election(name, options)`. @throws {InvalidArgumentError} */
  constructor(parts: ElectionParts, name: string, options: ElectionOptions<Value> = {}) {
    checkOptions("options", options, ["term", "value"]);
    const { term = DEFAULT_TERM_MS, value } = options;
    const ttl = durationMs("term", term, { minMs: SHORTEST_TERM_MS, maxMs: LONGEST_TERM_MS });
    this.name = checkName(name);
    this.#parts = parts;
    this.#mutex = parts.locks.mutex(electionLock(name), { ttl, localTurns: 1 });
    this.#record = parts.record(electionLock(name));
    this.#inspection = new ElectionInspection(parts.backend.inspection, (lock) =>
      lock === this.#record.name ? this.#record.get() : parts.record(lock).get(),
    );
    this.#value = checkValue(value);
  }

  /**
   * Stands for election, and waits until this process leads. A leader stays in office by itself, term after term, so nobody else
   * is elected before it resigns, hands over or is lost. An own leadership that was lost is over before the question is sent, and
   * waits at the end of the line like any other candidate.
   *
   * Each call is a candidate of its own, though those of one process share a place in line. So a campaign beside an own leadership
   * that is valid waits for its end.
   * @returns a leadership that is valid; null when `wait` is over
   * @throws {IndeterminateError} `wait` passed and Redis did not answer
   * @throws {ServerError} the server refused in a way that will not pass
   * @throws {ClosedError} `hf.close()` was called
   * @throws the signal's reason
   */
  campaign(options?: CampaignOptions<Value> & { readonly wait?: undefined }): Promise<Leadership<Value>>;
  campaign(options: CampaignOptions<Value>): Promise<Leadership<Value> | null>;
  async campaign(options: CampaignOptions<Value> = {}): Promise<Leadership<Value> | null> {
    checkOptions("options", options, ["wait", "signal", "value"]);
    const { waitMs, signal } = checkWait(options, Number.POSITIVE_INFINITY);
    const value = options.value === undefined ? this.#value : checkValue(options.value);
    signal?.throwIfAborted();
    this.#stepDown();
    try {
      return await this.#campaign(waitMs, signal, value);
    } catch (error) {
      if (error instanceof AcquireTimeoutError) return null;
      throw fromCaller(error, this.campaign);
    }
  }

  /** The leader now; null when nobody leads. @throws {HoldfastError} Redis did not answer, or refused */
  async leader(): Promise<Leader<Value> | null> {
    return (await this.#look()).leader;
  }

  /**
   * The candidates in line, in the order in which they will be elected: one for each process. The process that leads is none of
   * them, although it may stand for election again.
   * @throws {HoldfastError} Redis did not answer, or refused
   */
  async candidates(): Promise<readonly Candidate[]> {
    return (await this.#look()).candidates;
  }

  /**
   * The present leader, then each change: the next leader, a value that was announced, or null for nobody. Each state was read from
   * Redis. A slow reader gets the newest only. While Redis does not answer nothing is yielded. Ends with the loop, with `signal`, or
   * with ClosedError.
   */
  observe(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncIterableIterator<Leader<Value> | null> {
    checkOptions("options", options, ["signal"]);
    const source = {
      channel: this.#record.key,
      read: () => this.#look(),
      // The lock says who leads, so that a message of the record only causes a look.
      // No message comes when a lease lapses.
      changesInMs: ({ leader }: ElectionState<Value>) => leader && leader.remainingMs + LAPSE_MARGIN_MS,
    };
    const observed = this.#parts.observed as WatchedStates<ElectionState<Value>>;
    return observed.stream(source, ({ leader }) => leader, isSame, checkSignal(options.signal));
  }

  #look(): Promise<ElectionState<Value>> {
    return this.#inspection.look(this.name) as Promise<ElectionState<Value>>;
  }

  /** A leader that overran its term says so to Redis before it asks again, so that nobody waits for the end of its lease. */
  #stepDown(): void {
    for (const leadership of this.#leaderships) {
      if (leadership.valid || leadership.isHandingOver) continue;
      this.#leaderships.delete(leadership);
      void leadership.resign(); // never rejects
    }
  }

  async #campaign(
    waitMs: number,
    signal: AbortSignal | undefined,
    value: Value | null,
  ): Promise<Leadership<Value>> {
    const { clock } = this.#parts.context.schedule;
    const since = clock.now();
    let floor = 0n;
    for (;;) {
      const wait = Math.max(Math.ceil(waitMs - elapsedMs(clock, since)), 0);
      const lease = await this.#mutex.acquire({ wait, signal, floor: floor === 0n ? undefined : floor });
      const { leadership, seen } = await this.#lead(lease, value);
      if (leadership.valid && seen === null && !signal?.aborted) {
        this.#leaderships.add(leadership);
        leadership.begin(elapsedMs(clock, since));
        return leadership;
      }
      // The lease was lost during the announcement, or its term is not above one that was announced before: Redis lost data.
      await leadership.resign();
      signal?.throwIfAborted();
      if (seen !== null && seen > floor) floor = seen;
    }
  }

  async #lead(
    lease: Lease,
    value: Value | null,
  ): Promise<{ readonly leadership: HeldLeadership<Value>; readonly seen: bigint | null }> {
    const { context, backend } = this.#parts;
    const { schedule, random } = context;
    const announcement = new Announcement({ schedule, random, record: this.#record }, lease, value);
    const parts = { schedule, backend, inspection: this.#inspection };
    const leadership = new HeldLeadership(parts, this.name, lease, announcement, value);
    return { leadership, seen: await announcement.make() };
  }
}

refuseSurplus(Election, { campaign: 1, leader: 0, candidates: 0, observe: 1 });

function isSame(a: ElectionState, b: ElectionState): boolean {
  return (
    a.leader?.id === b.leader?.id &&
    a.leader?.term === b.leader?.term &&
    a.leader?.announced === b.leader?.announced
  );
}

function checkName(name: unknown): string {
  const word = checkWord("name", name);
  if (word.length <= LONGEST_NAME) return word;
  throw new InvalidArgumentError("name", `must have at most ${LONGEST_NAME} characters, not ${word.length}`);
}

/** Null: the value that nothing was said of. @throws {InvalidArgumentError} */
function checkValue<Value>(value: Value | undefined): Value | null {
  if (value === undefined) return null;
  encodeValue("value", value);
  return value;
}
