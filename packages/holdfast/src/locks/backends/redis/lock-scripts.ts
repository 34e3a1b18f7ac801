/**
 * LockScripts: the lock scripts on one server. Each method sends one script and parses its reply into types, and each
 * reply is checked to answer the call that was sent.
 *
 * A claim may still reach the server after its caller gave up. So every copy that is sent is counted until it is
 * answered, and a claim with an unanswered copy is banned when it is released.
 */
import { type Owner, ServerError } from "../../../errors.js";
import type { RenewOutcome } from "../../../lease/keeper.js";
import type { RedisContext } from "../../../redis/context.js";
import { lockKey, lockKeys } from "../../../redis/keys.js";
import type { RedisPort, Reply } from "../../../redis/port.js";
import { replyRow } from "../../../redis/reply.js";
import { groupBySlot } from "../../../redis/slots.js";
import { publish } from "../../../telemetry/events.js";
import type { Instant } from "../../../time/clock.js";
import type { Claim, Holder } from "../../backend.js";
import { parseLock, toOwner } from "./lock-state.js";
import { script as acquireScript } from "./lua/acquire.lua.js";
import { script as acquireManyScript } from "./lua/acquire-many.lua.js";
import { script as heartbeatScript } from "./lua/heartbeat.lua.js";
import { script as releaseScript } from "./lua/release.lua.js";
import { script as releaseManyScript } from "./lua/release-many.lua.js";
import { script as renewScript } from "./lua/renew.lua.js";

export type LockScriptsContext = Pick<
  RedisContext,
  "port" | "prefix" | "owner" | "callTimeoutMs" | "schedule"
>;

/** A claim, and whether one of its copies may still reach the server. */
export interface SentClaim {
  readonly claim: Claim;
  /** The key of the lock's state. */
  readonly key: string;
  /** How often the connection had broken before the claim was first sent. */
  readonly disruptions: number;
  /** Copies that have no answer, yet or for ever. */
  unanswered: number;
  /** Sent at least once by a client that was connected: it may be on its way, or in the client's hands. */
  left: boolean;
}

export type Verdict =
  | { readonly kind: "granted"; readonly token: bigint }
  | { readonly kind: "busy"; readonly leftMs: number; readonly owner: Owner | null }
  | {
      readonly kind: "in-line";
      readonly leftMs: number;
      readonly owner: Owner | null;
      readonly ahead: number;
      readonly ticket: string;
    }
  /** The server has no record of the claim: it was given up, or the server lost it. */
  | { readonly kind: "unknown-id" };

/** What `acquireMany` did for one claim. */
export interface ManyAnswer {
  /** Null: only `acquire` can tell. */
  readonly verdict: Verdict | null;
  readonly sentAt: Instant;
  /** When the server saw the claim, in digits of its clock, which is the claim's place in line; "0": it did not. */
  readonly ticket: string;
}

export interface AcquireSettings {
  /** Whether to wait in line when the lock is not free. */
  readonly wait: boolean;
  /** The channel on which this process receives grants. */
  readonly inbox: string;
  /** Number of this sign of life. */
  readonly heartbeat: number;
  /** The place in line that the claim had before; "0" for none. */
  readonly ticket: string;
  readonly timeoutMs: number;
}

/** `left`: the claim held nothing, stood in line, and left it. */
export type ReleaseOutcome = "released" | "handed-over" | "left" | "absent";

/** For how long the last token outlives the lease. */
const KEEP_MS = 86_400_000;
const TOKEN_LENGTH = 16;
const RELEASED = 1;
const RELEASES: readonly (ReleaseOutcome | undefined)[] = ["absent", "released", "handed-over", "left"];
const RENEWED = 1;
const UNKNOWN_LOCK = -1;

export class LockScripts {
  readonly #port: RedisPort;
  readonly #context: LockScriptsContext;

  constructor(context: LockScriptsContext) {
    this.#port = context.port;
    this.#context = context;
  }

  /** An argument of the scripts that grant: whether a process may listen at a server that the script does not see. */
  get #elsewhere(): string {
    return listensElsewhere(this.#port);
  }

  get callTimeoutMs(): number {
    return this.#context.callTimeoutMs;
  }

  /** How often the connection broke: a call under way at that moment may have been carried out twice. */
  get disruptions(): number {
    return this.#port.disruptions;
  }

  /** Groups items by the slot of their claims: one call must not name locks of two slots. */
  groupBySlot<Item extends { readonly sent: SentClaim }>(items: readonly Item[]): (readonly Item[])[] {
    return groupBySlot(items, ({ sent }) => this.#port.slotOf(sent.key));
  }

  /** Begins the account of a claim. */
  account(claim: Claim): SentClaim {
    const key = lockKey(this.#context.prefix, claim.name);
    return { claim, key, disruptions: this.#port.disruptions, unanswered: 0, left: false };
  }

  /** Counts a copy. The caller of `acquireMany` does this for its claims, because one may be given up before it is sent. */
  count(sent: SentClaim): void {
    sent.unanswered += 1;
    sent.left ||= this.#port.trouble === null;
  }

  /** For how long a claim that ends must be banned, because a copy of it may still be on the way. */
  banMs({ claim, unanswered, disruptions }: SentClaim): number {
    return unanswered === 0 && disruptions === this.#port.disruptions ? 0 : claim.storeTtlMs;
  }

  /** Whether a client that is not connected now may send the claim again when it is. */
  mayBeResent({ left, unanswered }: SentClaim): boolean {
    return this.#port.trouble !== null && left && unanswered > 0;
  }

  /** Takes the locks that are free and have no line. All must have one slot, one ttl, and one number of tokens to reserve. */
  async acquireMany(sent: readonly SentClaim[]): Promise<ManyAnswer[]> {
    const { storeTtlMs, turns } = (sent[0] as SentClaim).claim;
    const { owner, callTimeoutMs } = this.#context;
    const keys = sent.map(({ key }) => key);
    const args = [`${KEEP_MS} ${storeTtlMs} ${owner}`, String(turns), String(KEEP_MS + storeTtlMs)];
    for (const { claim } of sent) args.push(claim.id);
    const timeoutMs = Math.min(callTimeoutMs, ...sent.map(({ claim }) => claim.ttlMs));
    const sentAt = this.#context.schedule.clock.now();
    try {
      const reply = await this.#port.script(acquireManyScript, keys, args, timeoutMs);
      const ids = sent.map(({ claim }) => claim.id);
      const { verdicts, ticket } = parseAcquireMany(reply, ids);
      for (const each of sent) each.unanswered -= 1;
      return verdicts.map((verdict) => ({ verdict, sentAt, ticket }));
    } catch (error) {
      if (error instanceof ServerError) for (const each of sent) each.unanswered -= 1;
      throw error;
    }
  }

  /** Takes the lock, waits in line for it, or returns its holder. */
  async acquire(sent: SentClaim, settings: AcquireSettings): Promise<Verdict> {
    const { name, id, ttlMs, storeTtlMs, turns, minFence } = sent.claim;
    const { prefix, owner } = this.#context;
    const { wait, inbox, heartbeat, ticket } = settings;
    const args = [id, String(storeTtlMs), String(turns), String(minFence), owner];
    args.push(wait ? "1" : "0", inbox, String(heartbeat), ticket, this.#elsewhere);
    // An answer that takes longer than the lease would be of no use.
    const timeoutMs = Math.min(settings.timeoutMs, ttlMs);
    this.count(sent);
    try {
      const reply = await this.#port.script(acquireScript, lockKeys(prefix, name), args, timeoutMs);
      sent.unanswered -= 1;
      return parseVerdict(reply, id);
    } catch (error) {
      if (error instanceof ServerError) sent.unanswered -= 1;
      throw error;
    }
  }

  /** Gives signs of life for waiters of one slot, each with its number. */
  async heartbeat(waiters: readonly (readonly [Claim, number])[], timeoutMs: number): Promise<Verdict[]> {
    const { prefix, callTimeoutMs } = this.#context;
    const keys = waiters.flatMap(([{ name }]) => lockKeys(prefix, name));
    const args = [this.#elsewhere, ...waiters.flatMap(([{ id }, heartbeat]) => [id, String(heartbeat)])];
    const limitMs = Math.min(timeoutMs, callTimeoutMs);
    const row = replyRow(await this.#port.script(heartbeatScript, keys, args, limitMs), waiters.length);
    return waiters.map(([{ id }], place) => parseVerdict(row[place], id));
  }

  /** Renews leases. Rejects when all outcomes are unknown. */
  async renew(holders: readonly Holder[], timeoutMs: number): Promise<readonly RenewOutcome[]> {
    const { prefix } = this.#context;
    const groups = groupBySlot(holders, ({ name }) => this.#port.slotOf(lockKey(prefix, name)));
    if (groups.length === 1) return this.#renewOrSplit(holders, timeoutMs);
    const outcomes = new Map<Holder, RenewOutcome>();
    await this.#renewEach(groups, timeoutMs, outcomes);
    return holders.map((holder) => outcomes.get(holder) ?? "unknown");
  }

  /** One name that the server refuses to touch must not cost the others their leases: a refused batch is split. */
  async #renewOrSplit(holders: readonly Holder[], timeoutMs: number): Promise<readonly RenewOutcome[]> {
    try {
      return await this.#renew(holders, timeoutMs);
    } catch (error) {
      if (!(error instanceof ServerError) || error.passing || holders.length === 1) throw error;
      const middle = holders.length >> 1;
      const outcomes = new Map<Holder, RenewOutcome>();
      await this.#renewEach([holders.slice(0, middle), holders.slice(middle)], timeoutMs, outcomes);
      return holders.map((holder) => outcomes.get(holder) ?? "unknown");
    }
  }

  /** Notes the outcomes of those batches that have one. */
  async #renewEach(
    batches: readonly (readonly Holder[])[],
    timeoutMs: number,
    outcomes: Map<Holder, RenewOutcome>,
  ): Promise<void> {
    const settled = await Promise.allSettled(batches.map((batch) => this.#renewOrSplit(batch, timeoutMs)));
    for (const [place, batch] of batches.entries()) {
      const result = settled[place];
      if (result?.status !== "fulfilled") continue;
      for (const [at, holder] of batch.entries()) outcomes.set(holder, result.value[at] ?? "unknown");
    }
  }

  async #renew(holders: readonly Holder[], timeoutMs: number): Promise<readonly RenewOutcome[]> {
    const { prefix, callTimeoutMs } = this.#context;
    const keys = holders.map(({ name }) => lockKey(prefix, name));
    const ids = holders.map(({ id }) => id);
    const reply = await this.#port.script(renewScript, keys, ids, Math.min(timeoutMs, callTimeoutMs));
    const row = replyRow(reply, holders.length + 1);
    if (row[holders.length] !== ids[0]) replyRow(undefined); // throws: an answer to another call
    return holders.map(({ name }, place) => renewOutcome(name, Number(row[place])));
  }

  /** Releases the lock, and hands it to the first waiter in line; or ends the wait for it. */
  async release(sent: SentClaim, timeoutMs: number): Promise<ReleaseOutcome> {
    const { name, id } = sent.claim;
    const keys = lockKeys(this.#context.prefix, name);
    const args = [id, String(this.banMs(sent)), this.#elsewhere];
    const [status] = replyRow(await this.#port.script(releaseScript, keys, args, timeoutMs));
    return RELEASES[Number(status)] ?? "absent";
  }

  /** Releases the locks of one slot for which nobody waits. Returns true for each that was released. */
  async releaseMany(sent: readonly SentClaim[]): Promise<boolean[]> {
    const { callTimeoutMs } = this.#context;
    const keys = sent.map(({ key }) => key);
    const ids = sent.map(({ claim }) => claim.id);
    const reply = await this.#port.script(releaseManyScript, keys, ids, callTimeoutMs);
    return sent.map((_, place) => Array.isArray(reply) && Number(reply[place]) === RELEASED);
  }
}

/** "1": a PUBLISH that reached nobody does not prove that its process is gone. */
export function listensElsewhere(port: Pick<RedisPort, "zeroListenersMeansGone">): string {
  return port.zeroListenersMeansGone ? "0" : "1";
}

function renewOutcome(lock: string, code: number): RenewOutcome {
  if (code === RENEWED) return "renewed";
  if (code !== UNKNOWN_LOCK) return "lost";
  publish("holdfast:server:forgot", () => ({ what: "lock", lock }));
  return "forgotten";
}

/** @throws {IndeterminateError} an answer of another shape, or to another claim than `id` */
export function parseVerdict(reply: Reply | undefined, id: string): Verdict {
  const [status, ...rest] = replyRow(reply);
  switch (Number(status)) {
    case 1:
      if (rest[1] !== id) replyRow(undefined); // throws
      return { kind: "granted", token: BigInt(String(rest[0])) };
    case 0:
      return { kind: "busy", leftMs: Number(rest[0]), owner: ownerIn(rest[1]) };
    case 2:
      return {
        kind: "in-line",
        leftMs: Number(rest[0]),
        owner: ownerIn(rest[1]),
        ahead: Number(rest[2]),
        ticket: String(rest[3]),
      };
    default:
      return { kind: "unknown-id" };
  }
}

function ownerIn(state: Reply | undefined): Owner | null {
  const holder = parseLock(String(state))?.holder;
  return holder ? toOwner(holder) : null;
}

/**
 * A grant names its claim: one that answers another call, on a connection that is out of step, must not be believed.
 * @throws {IndeterminateError} an answer of another shape
 */
export function parseAcquireMany(
  reply: Reply,
  ids: readonly string[],
): { readonly verdicts: readonly (Verdict | null)[]; readonly ticket: string } {
  const alone = typeof reply === "string" && ids.length === 1;
  const row = alone ? [reply, reply.slice(0, TOKEN_LENGTH)] : replyRow(reply, ids.length + 1);
  const ticket = String(row[ids.length]);
  if (!/^\d{16}$/.test(ticket)) replyRow(undefined); // throws
  return { verdicts: ids.map((id, place) => parseSeen(row[place] ?? null, id)), ticket };
}

function parseSeen(seen: Reply, id: string): Verdict | null {
  if (typeof seen === "string") {
    return seen.endsWith(id) ? { kind: "granted", token: BigInt(seen.slice(0, TOKEN_LENGTH)) } : null;
  }
  if (!Array.isArray(seen)) return null;
  const holder = parseLock(String(seen[0]))?.holder;
  const leftMs = Number(seen[1]);
  // More than its ttl: the clock was set back, and `acquire` mends it.
  if (!holder || !(leftMs > 0 && leftMs <= holder.ttlMs)) return null;
  // The client has sent the claim before.
  if (holder.id === id) return { kind: "granted", token: holder.token };
  return { kind: "busy", leftMs, owner: toOwner(holder) };
}
