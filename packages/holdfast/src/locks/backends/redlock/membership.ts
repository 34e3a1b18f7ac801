/**
 * Membership: whether one server votes, and from when.
 *
 * A server that restarts may come back without its data, or with old data. It must not vote until every lease of before has
 * expired. So an answer counts only when it comes from a run of the server that is known, and that started a quarantine
 * earlier. The run is known by INFO, which is sent together with the first request, and again after every break of the connection.
 * A client that reports no breaks gets INFO behind every request. A proxy may hide a restart, and a server may have copied another one
 * without a break: INFO is repeated while the node is in use.
 *
 * The uptime is counted by the wall clock of the server. A clock that is stepped forward after the start shortens the quarantine by
 * the step, and one that is stepped back lengthens it, to at most one quarantine after this process has asked first.
 */
import { ClosedError, NotVotingError, ServerError } from "../../../errors.js";
import type { RedisPort } from "../../../redis/port.js";
import { publish } from "../../../telemetry/events.js";
import { batchesSent } from "../../../time/batcher.js";
import type { Instant } from "../../../time/clock.js";
import type { Schedule } from "../../../time/schedule.js";
import type { Incarnations } from "./incarnations.js";
import { readServerFacts, type ServerFacts, wasReplaced } from "./server-facts.js";

/** When a request was sent to a node, and the facts about the node that were known then. */
export interface NodeMark {
  /** On the monotonic clock. */
  readonly atMs: number;
  readonly disruptions: number;
  /** The run of the server that was known last; null: none. */
  readonly incarnation: string | null;
  /** INFO that was sent with the request; null: the connection has not changed since the last one. */
  readonly check: Promise<KnownServer | null> | null;
}

/** The result of one INFO. */
interface KnownServer {
  readonly facts: ServerFacts;
  /** Number of breaks of the connection when the question was sent. */
  readonly disruptions: number;
  /** When the answer came, on the monotonic clock. */
  readonly atMs: number;
  /** Since when its data is that of this node, at the latest, on the monotonic clock of this process. */
  readonly dataSinceMs: number;
  /** Whether it ran already when it became this node. */
  readonly isReplacement: boolean;
  /** When its quarantine ends, on the monotonic clock. */
  readonly votesFromMs: number;
  /** Why it can never vote as it is; null: it can. */
  readonly refusal: string | null;
  /** The server's clock less this process's clock; null: it did not say. */
  readonly clockAheadMs: number | null;
}

export interface MembershipParts {
  /** Name of the node. */
  readonly name: string;
  readonly port: RedisPort;
  readonly schedule: Schedule;
  readonly callTimeoutMs: number;
  readonly quarantineMs: number;
  /** Shared by all nodes of a Redlock. */
  readonly incarnations: Incarnations<Membership>;
}

interface Check {
  readonly disruptions: number;
  /** Whether requests may leave behind it. A client that reports no breaks says nothing of these. */
  isPassed: boolean;
  readonly done: Promise<KnownServer | null>;
}

/** How often INFO is repeated while the node is in use. */
const REPEAT_MS = 10_000;
/** INFO may take this long, so that a node that is slow for a moment is not taken for one that hangs. */
const SHORTEST_TIMEOUT_MS = 1_000;
/** For how long a node that did not answer INFO gets no request but INFO. */
const SILENCE_COUNTS_MS = 1_000;
/** After an answer that took longer than this, the call that shows the server's clock asks again. */
const SLOW_MS = 5;
/** The uptime is the difference of two clock readings in whole seconds. */
const UPTIME_STEP_MS = 1_000;

export class Membership {
  readonly name: string;
  readonly #parts: MembershipParts;
  readonly #onForgot = new Set<() => void>();
  readonly #onBroken = new Set<() => void>();
  #known: KnownServer | null = null;
  /** Why the last INFO had no answer; null: it had one. */
  #failure: { readonly error: Error; readonly atMs: number } | null = null;
  #check: Check | null = null;
  /** The last answer that was evaluated, by the order in which the questions were sent. */
  #lastAnswered = 0;
  #asked = 0;
  #published: string | null = null;

  constructor(parts: MembershipParts) {
    this.name = parts.name;
    this.#parts = parts;
    // A server that hangs would cost every attempt a request that is cleaned up later. One question finds out.
    parts.port.onUnanswered?.(() => {
      if (!this.#check && !this.#failure) void this.#ask();
    });
  }

  /** Calls back when every lease at this node is worth nothing any more, because another run of a server answers. */
  onForgot(listener: () => void): void {
    this.#onForgot.add(listener);
  }

  /** Calls back when a server answers over another connection than before, or another run of a server does. */
  onBroken(listener: () => void): void {
    this.#onBroken.add(listener);
  }

  /** To be called before a request is sent. */
  mark(): NodeMark {
    const { port } = this.#parts;
    const atMs = this.#nowMs();
    const known = this.#known;
    const incarnation = known?.facts.incarnation ?? null;
    const isCurrent = known !== null && known.disruptions === port.disruptions && port.reportsBreaks;
    const { disruptions } = port;
    if (!isCurrent) return { atMs, disruptions, incarnation, check: this.#ask() };
    if (atMs - known.atMs >= REPEAT_MS) void this.#ask();
    this.#tell(atMs);
    return { atMs, disruptions, incarnation, check: null };
  }

  /** Whether an answer that has just come to a request with this mark counts. */
  counts(mark: NodeMark): boolean | Promise<boolean> {
    if (mark.check || mark.disruptions !== this.#parts.port.disruptions) return this.#judge(mark);
    return this.#known !== null && isSameRun(this.#known, mark) && votedAt(this.#known, mark);
  }

  async #judge(mark: NodeMark): Promise<boolean> {
    const { port } = this.#parts;
    const beside = await mark.check;
    const isUnbroken = port.disruptions === mark.disruptions;
    if (mark.check && !beside && isUnbroken) return false;
    if (beside?.disruptions === mark.disruptions && isUnbroken) {
      // The answer came over the same connection as that to INFO. A client that reports no breaks does not prove this.
      return votedAt(beside, mark) && (port.reportsBreaks || isSameRun(beside, mark));
    }
    // The answer may have come before the break or after it. It counts if the same run of the server was there at both times.
    const after = await this.#ask();
    return after !== null && mark.incarnation !== null && isSameRun(after, mark) && votedAt(after, mark);
  }

  /** Why the node does not vote now; null: it votes, or nothing is known that speaks against it. */
  get silence(): NotVotingError | null {
    const nowMs = this.#nowMs();
    const standing = this.#standing(nowMs);
    this.#tell(nowMs, standing);
    if (standing?.membership === "unreachable" && this.#parts.port.trouble === null) void this.#ask();
    if (standing?.membership === "refused" && nowMs - this.#lastSeenMs >= REPEAT_MS) void this.#ask();
    return standing;
  }

  /** Asks INFO, and describes the node. */
  async describe(): Promise<NodeStanding> {
    const askedMs = this.#nowMs();
    let known = await this.#ask();
    // The answer to a first question waits for the connection, and then says little of the server's clock.
    if (known && this.#nowMs() - askedMs > SLOW_MS) known = (await this.#ask()) ?? known;
    const nowMs = this.#nowMs();
    const standing = this.#standing(nowMs);
    return {
      standing,
      leftMs: standing?.leftMs ?? 0,
      incarnation: known?.facts.incarnation ?? null,
      clockAheadMs: known?.clockAheadMs ?? null,
    };
  }

  get #lastSeenMs(): number {
    return this.#failure?.atMs ?? this.#known?.atMs ?? Number.NEGATIVE_INFINITY;
  }

  #nowMs(): number {
    return this.#parts.schedule.clock.now().monoMs;
  }

  #standing(nowMs: number): NotVotingError | null {
    const { name, port } = this.#parts;
    const failure = this.#failure;
    // The first connection of a new client is still being made: the request waits for it in the client.
    if (port.trouble !== null && (port.disruptions > 0 || port.rejectsCalls || failure)) {
      return new NotVotingError(name, "unreachable", port.trouble);
    }
    if (failure && isLasting(failure.error)) {
      return new NotVotingError(name, "refused", failure.error.message, { cause: failure.error });
    }
    if (failure && nowMs - failure.atMs < SILENCE_COUNTS_MS) {
      return new NotVotingError(name, "unreachable", failure.error.message, { cause: failure.error });
    }
    const known = this.#known;
    if (!known || known.disruptions !== port.disruptions) return null;
    if (known.refusal !== null) return new NotVotingError(name, "refused", known.refusal);
    if (nowMs >= known.votesFromMs) return null;
    const leftMs = known.votesFromMs - nowMs;
    const reason = `it started a short time ago, perhaps without its data, and votes in ${Math.ceil(leftMs / 1_000)} s (option quarantine)`;
    return new NotVotingError(name, "quarantined", reason, { leftMs });
  }

  /** Resolves to null when no answer came. Never rejects. */
  #ask(): Promise<KnownServer | null> {
    const { port } = this.#parts;
    const { disruptions } = port;
    const current = this.#check;
    if (current?.disruptions === disruptions && !current.isPassed) return current.done;
    // The question has to leave behind the requests that it is about: one for all of a turn of the event loop.
    const sent = port.reportsBreaks ? null : batchesSent();
    const check: Check = { disruptions, isPassed: false, done: this.#look(disruptions, sent) };
    this.#check = check;
    void sent?.then(() => {
      check.isPassed = true;
    });
    void check.done.then(() => {
      if (this.#check === check) this.#check = null;
    });
    return check.done;
  }

  async #look(disruptions: number, sent: Promise<void> | null): Promise<KnownServer | null> {
    const { port, schedule, callTimeoutMs } = this.#parts;
    this.#asked += 1;
    const number = this.#asked;
    if (sent) await sent;
    const sentAt = schedule.clock.now();
    try {
      const facts = await readServerFacts(port, Math.max(callTimeoutMs, SHORTEST_TIMEOUT_MS));
      if (number < this.#lastAnswered) return this.#known;
      this.#lastAnswered = number;
      return this.#learn(facts, disruptions, sentAt);
    } catch (error) {
      if (number > this.#lastAnswered && !(error instanceof ClosedError)) {
        const nowMs = this.#nowMs();
        this.#failure = { error: error as Error, atMs: nowMs };
        this.#tell(nowMs);
      }
      return null;
    }
  }

  #learn(facts: ServerFacts, disruptions: number, sentAt: Instant): KnownServer {
    const { incarnations } = this.#parts;
    const before = this.#known;
    const now = this.#parts.schedule.clock.now();
    const isOther = before !== null && before.facts.incarnation !== facts.incarnation;
    if (isOther) incarnations.drop(before.facts.incarnation, this);
    const owner = incarnations.claim(facts.incarnation, this);
    const isReplaced = before !== null && !isOther && wasReplaced(before.facts, facts);
    const { clockMs } = facts;
    const known = {
      facts,
      disruptions,
      atMs: now.monoMs,
      ...this.#timesOf(facts, now.monoMs, isReplaced),
      refusal: refusalOf(facts, owner === this ? null : owner.name),
      clockAheadMs: clockMs === null ? null : Math.round(clockMs - (sentAt.wallMs + now.wallMs) / 2),
    };
    this.#known = known;
    this.#failure = null;
    if (before && (isOther || before.disruptions !== disruptions))
      for (const listener of this.#onBroken) listener();
    if (isOther || isReplaced) for (const listener of this.#onForgot) listener();
    this.#tell(now.monoMs);
    return known;
  }

  /** @param isReplaced whether it took over the data of another server, and is a primary again */
  #timesOf(
    { incarnation, uptimeSeconds }: ServerFacts,
    nowMs: number,
    isReplaced: boolean,
  ): Pick<KnownServer, "dataSinceMs" | "isReplacement" | "votesFromMs"> {
    const { quarantineMs } = this.#parts;
    const before = this.#known;
    // Negative where the clock was stepped back after the start: it started before it answered, all the same.
    const startedByMs = nowMs - Math.max(uptimeSeconds * 1_000 - UPTIME_STEP_MS, 0);
    const isSame = before?.facts.incarnation === incarnation;
    // A server that ran already while another one was this node has data of its own, such as a replica that was promoted.
    const isNew = isReplaced || (before !== null && !isSame && startedByMs < before.atMs);
    const isReplacement = isNew || (isSame && before.isReplacement);
    let dataSinceMs = isNew ? nowMs : startedByMs;
    if (isSame && !isNew) {
      // Each answer is off by less than a second, always to the safe side.
      dataSinceMs = isReplacement ? before.dataSinceMs : Math.min(before.dataSinceMs, startedByMs);
    }
    const votesFromMs = quarantineMs === 0 ? Number.NEGATIVE_INFINITY : dataSinceMs + quarantineMs;
    return { dataSinceMs, isReplacement, votesFromMs };
  }

  #tell(nowMs: number, standing = this.#standing(nowMs)): void {
    // A node that may be asked again votes when it has answered, and no sooner.
    const hasAnswered = !this.#failure && this.#known?.disruptions === this.#parts.port.disruptions;
    const membership = standing?.membership ?? (hasAnswered ? "voting" : null);
    if (membership === null || membership === this.#published) return;
    this.#published = membership;
    const reason = standing?.message ?? null;
    publish("holdfast:redlock:node", () => ({ node: this.name, membership, reason }));
  }
}

/** The state of a node, as far as it is known. */
export interface NodeStanding {
  /** Null: it votes. */
  readonly standing: NotVotingError | null;
  /** Milliseconds until its quarantine ends; 0: it is in none. */
  readonly leftMs: number;
  readonly incarnation: string | null;
  readonly clockAheadMs: number | null;
}

function votedAt(known: KnownServer, { atMs }: NodeMark): boolean {
  return known.refusal === null && known.votesFromMs <= atMs;
}

function isSameRun({ facts }: KnownServer, { incarnation }: NodeMark): boolean {
  return incarnation === null || incarnation === facts.incarnation;
}

function isLasting(error: Error): boolean {
  return error instanceof ServerError && !error.passing;
}

/** @param twin name of another node that is the same server */
function refusalOf({ isReplica, isClustered }: ServerFacts, twin: string | null): string | null {
  if (twin !== null) return `it is the same server as node ${twin}: give each node a server of its own`;
  if (isClustered) return "it is part of a cluster: give each node a server of its own, without replicas";
  if (isReplica) return "it is a replica: connect to a primary";
  return null;
}
