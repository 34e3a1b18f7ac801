/**
 * LockScripts: the lock scripts on one server. Each method sends one script and parses its reply into types, and each
 * reply is checked to answer the call that was sent.
 *
 * A claim may still reach the server after its caller gave up. So every copy that is sent is counted until it is
 * answered, and a claim with an unanswered copy is banned when it is released.
 */
import { IndeterminateError, isRefusal, type Owner, type UnavailableError } from "../../../errors.js";
import type { RenewOutcome } from "../../../lease/keeper.js";
import type { RedisContext } from "../../../redis/context.js";
import { lockKey, lockKeys } from "../../../redis/keys.js";
import { nothingSentSince, type RedisPort, type Reply, type ReplyListener } from "../../../redis/port.js";
import { type AnswerListener, Parsed, replyRow } from "../../../redis/reply.js";
import { groupBySlot } from "../../../redis/slots.js";
import type { Instant } from "../../../time/clock.js";
import type { Claim, HandedOver, Holder, Transfer } from "../../backend.js";
import { parseLock, toOwner } from "./lock-state.js";
import { script as acquireScript } from "./lua/acquire.lua.js";
import { script as acquireManyScript } from "./lua/acquire-many.lua.js";
import { script as adoptScript } from "./lua/adopt.lua.js";
import { script as heartbeatScript } from "./lua/heartbeat.lua.js";
import { script as releaseScript } from "./lua/release.lua.js";
import { script as releaseManyScript } from "./lua/release-many.lua.js";
import { script as renewScript } from "./lua/renew.lua.js";
import { script as transferScript } from "./lua/transfer.lua.js";
import { Renewals } from "./renewals.js";
import {
  type AdoptAnswer,
  holderIn,
  parseAdoption,
  parseVerdict,
  type SeenHolder,
  type Verdict,
  VerdictAnswer,
} from "./verdicts.js";

export type LockScriptsContext = Pick<
  RedisContext,
  "port" | "prefix" | "owner" | "callTimeoutMs" | "schedule"
>;

/** A claim, and whether one of its copies may still reach the server. */
export interface SentClaim {
  readonly claim: Claim;
  /** The key of the lock's state. */
  readonly key: string;
  /** The token that the first question asks for, in 16 digits: one for several servers. */
  readonly common?: string | undefined;
  /** How often the connection had broken before the claim was first sent. */
  readonly disruptions: number;
  /** Copies that have no answer, yet or for ever. */
  unanswered: number;
  /** The port's `writes` before the claim was first sent: while it is the same, no copy has left this process. */
  writes: number;
}

/** A claim as a part of a request that takes several names at once. */
export interface ClaimPart {
  readonly keys: readonly string[];
  /** See several/lua/take-all.lua. */
  readonly terms: string;
  /** Parses the holder that the reply names. */
  toHeld(holder: Reply | undefined): { readonly owner: Owner | null; readonly holder?: SeenHolder | null };
}

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
const TICKET = /^\d{16}$/;
const SHORTEST_CALL_MS = 10;
const RELEASED = 1;
const RELEASES: readonly (ReleaseOutcome | undefined)[] = ["absent", "released", "handed-over", "left"];

export class LockScripts {
  readonly #port: RedisPort;
  readonly #context: LockScriptsContext;
  readonly #renewals: Renewals;

  readonly #callShare: number;
  /** Those of the last ttl: most locks of a program have the same. */
  #terms: Terms = { storeTtlMs: 0, terms: "", px: "" };

  /** @param callShare the share of its ttl that one request for a claim may take */
  constructor(context: LockScriptsContext, callShare = 1) {
    this.#port = context.port;
    this.#context = context;
    this.#callShare = callShare;
    this.#renewals = new Renewals(context, renewScript, (name) => lockKey(context.prefix, name));
  }

  /** An argument of the scripts that grant: whether a process may listen at a server that the script does not see. */
  get #elsewhere(): string {
    return listensElsewhere(this.#port);
  }

  get callTimeoutMs(): number {
    return this.#context.callTimeoutMs;
  }

  /** The time-out of one request for a claim: an answer that takes longer than its share of the ttl would be of no use. */
  limitMs(ttlMs: number): number {
    return Math.min(this.#context.callTimeoutMs, Math.max(ttlMs * this.#callShare, SHORTEST_CALL_MS));
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
  account(claim: Claim, common?: string): SentClaim {
    const key = lockKey(this.#context.prefix, claim.name);
    const { disruptions, writes } = this.#port;
    return { claim, key, common, disruptions, unanswered: 0, writes };
  }

  partOf({ name, storeTtlMs, turns, minFence }: Claim): ClaimPart {
    const keys = lockKeys(this.#context.prefix, name);
    return { keys, terms: `mutex ${storeTtlMs} ${turns} ${minFence}`, toHeld: holderIn };
  }

  /** Counts a copy. The caller of `acquireMany` does this for its claims, because one may be given up before it is sent. */
  count(sent: SentClaim): void {
    sent.unanswered += 1;
  }

  /** Discounts a copy that the server has refused, or that was not sent. */
  discount(sent: readonly SentClaim[], error: unknown): void {
    if (isRefusal(error)) for (const each of sent) each.unanswered -= 1;
  }

  /** The error for a wait that is over, if no copy of the claim has left this process; null: one may have. */
  unsent({ writes }: SentClaim): UnavailableError | null {
    return nothingSentSince(this.#port, writes);
  }

  /** Whether a copy of the claim may have left this process. */
  hasLeft({ writes }: SentClaim): boolean {
    return this.#port.writes !== writes;
  }

  /** For how long a claim that ends must be banned, because a copy of it may still be on the way. */
  banMs({ claim, unanswered, disruptions }: SentClaim): number {
    return unanswered === 0 && disruptions === this.#port.disruptions ? 0 : claim.storeTtlMs;
  }

  /** Whether a client that is not connected now may send the claim again when it is. */
  mayBeResent(sent: SentClaim): boolean {
    return this.#port.trouble !== null && this.hasLeft(sent) && sent.unanswered > 0;
  }

  /** Takes one lock, if it is free and has no line. */
  acquireOne(sent: SentClaim, listener: ReplyListener): void {
    const { id, storeTtlMs, turns, ttlMs } = sent.claim;
    const { terms, px } = this.#termsOf(storeTtlMs);
    const words = ["1", sent.key, terms, String(turns), px, sent.common ?? "0", id];
    this.#port.ask(acquireManyScript, words, this.limitMs(ttlMs), listener);
  }

  /** What `acquireMany` says of the lease that it would give. */
  #termsOf(storeTtlMs: number): Terms {
    if (this.#terms.storeTtlMs !== storeTtlMs) {
      const terms = `${KEEP_MS} ${storeTtlMs} ${this.#context.owner}`;
      this.#terms = { storeTtlMs, terms, px: String(KEEP_MS + storeTtlMs) };
    }
    return this.#terms;
  }

  /** Takes the locks that are free and have no line. All must have one slot, one ttl, one number of tokens, and one `common`. */
  async acquireMany(sent: readonly SentClaim[]): Promise<ManyAnswer[]> {
    const [
      {
        claim: { storeTtlMs, turns },
        common,
      },
    ] = sent as readonly [SentClaim];
    const { terms, px } = this.#termsOf(storeTtlMs);
    const keys = sent.map(({ key }) => key);
    const args = [terms, String(turns), px, common ?? "0"];
    for (const { claim } of sent) args.push(claim.id);
    const timeoutMs = this.limitMs(Math.min(...sent.map(({ claim }) => claim.ttlMs)));
    const sentAt = this.#context.schedule.clock.now();
    try {
      const reply = await this.#port.script(acquireManyScript, keys, args, timeoutMs);
      const ids = sent.map(({ claim }) => claim.id);
      const { verdicts, ticket } = parseAcquireMany(reply, ids);
      for (const each of sent) each.unanswered -= 1;
      return verdicts.map((verdict) => ({ verdict, sentAt, ticket }));
    } catch (error) {
      this.discount(sent, error);
      throw error;
    }
  }

  /** Takes the lock, waits in line for it, or returns its holder. */
  acquire(sent: SentClaim, settings: AcquireSettings, listener: AnswerListener<Verdict>): void {
    const { name, id, ttlMs, storeTtlMs, turns, minFence } = sent.claim;
    const { prefix, owner } = this.#context;
    const { wait, inbox, heartbeat, ticket } = settings;
    const words = ["4", ...lockKeys(prefix, name), id, String(storeTtlMs), String(turns), String(minFence)];
    words.push(owner, wait ? "1" : "0", inbox, String(heartbeat), ticket, this.#elsewhere);
    const timeoutMs = Math.min(settings.timeoutMs, this.limitMs(ttlMs));
    this.count(sent);
    this.#port.ask(acquireScript, words, timeoutMs, new VerdictAnswer(sent, listener));
  }

  /** Goes on with a lease that was handed over. */
  async adopt(sent: SentClaim, from: HandedOver): Promise<AdoptAnswer> {
    const { name, id, ttlMs, storeTtlMs, turns, minFence } = sent.claim;
    const { prefix, owner } = this.#context;
    const numbers = [storeTtlMs, turns, minFence].map(String);
    const args = [from.id, String(from.fence), id, ...numbers, owner, this.#elsewhere];
    const reply = await this.counted([sent], () =>
      this.#port.script(adoptScript, lockKeys(prefix, name), args, this.limitMs(ttlMs)),
    );
    return parseAdoption(reply, id);
  }

  /** Sends a copy of each claim, and counts it until it is answered. */
  async counted<Answer>(sent: readonly SentClaim[], send: () => Promise<Answer>): Promise<Answer> {
    for (const each of sent) this.count(each);
    try {
      const answer = await send();
      for (const each of sent) each.unanswered -= 1;
      return answer;
    } catch (error) {
      this.discount(sent, error);
      throw error;
    }
  }

  /** Gives signs of life for waiters of one slot, each with its number. @param longestMs the longest of their ttls */
  async heartbeat(waiters: readonly (readonly [Claim, number])[], longestMs: number): Promise<Verdict[]> {
    const { prefix } = this.#context;
    const keys = waiters.flatMap(([{ name }]) => lockKeys(prefix, name));
    const args = [this.#elsewhere, ...waiters.flatMap(([{ id }, heartbeat]) => [id, String(heartbeat)])];
    const reply = await this.#port.script(heartbeatScript, keys, args, this.limitMs(longestMs));
    const row = replyRow(reply, waiters.length);
    return waiters.map(([{ id }], place) => parseVerdict(row[place], id));
  }

  /** Renews leases. Rejects when all outcomes are unknown. */
  renew(holders: readonly Holder[], timeoutMs: number): Promise<readonly RenewOutcome[]> {
    return this.#renewals.renew(holders, timeoutMs);
  }

  /** Releases the lock, and hands it to the first waiter in line; or ends the wait for it. */
  release(sent: SentClaim, timeoutMs: number, listener: AnswerListener<ReleaseOutcome>): void {
    const { name, id } = sent.claim;
    const words = ["4", ...lockKeys(this.#context.prefix, name)];
    words.push(id, String(this.banMs(sent)), this.#elsewhere);
    this.#port.ask(releaseScript, words, timeoutMs, new Parsed(parseRelease, listener));
  }

  /** Gives the lock to one waiter, or changes nothing. @throws {IndeterminateError} a copy of the call may still be carried out */
  async transfer({ name, id }: Holder, to: string): Promise<Transfer> {
    const { prefix, callTimeoutMs } = this.#context;
    const { disruptions } = this.#port;
    const args = [id, to, this.#elsewhere];
    const reply = await this.#port.script(transferScript, lockKeys(prefix, name), args, callTimeoutMs);
    const [status, token, heir] = replyRow(reply);
    if (Number(status) === 1) {
      if (heir !== to) replyRow(undefined); // throws: an answer to another call
      return { outcome: "handed-over", token: BigInt(String(token)) };
    }
    if (disruptions !== this.#port.disruptions)
      throw new IndeterminateError(`the connection broke while '${name}' was handed over`);
    return { outcome: Number(status) === 0 ? "absent" : "lost" };
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

interface Terms {
  readonly storeTtlMs: number;
  readonly terms: string;
  readonly px: string;
}

/** What became of one release. @throws {IndeterminateError} an answer of another shape */
export function parseRelease(reply: Reply | undefined): ReleaseOutcome {
  const status = typeof reply === "number" ? reply : Number(replyRow(reply)[0]);
  return RELEASES[status] ?? "absent";
}

/** "1": a PUBLISH that reached nobody does not prove that its process is gone. */
export function listensElsewhere(port: Pick<RedisPort, "zeroListenersMeansGone">): string {
  return port.zeroListenersMeansGone ? "0" : "1";
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
  if (!TICKET.test(ticket)) replyRow(undefined); // throws
  return { verdicts: ids.map((id, place) => parseSeen(row[place] ?? null, id)), ticket };
}

/** @throws {IndeterminateError} an answer of another shape, or to another claim than `id` */
export function parseFirst(reply: Reply, id: string, sentAt: Instant): ManyAnswer {
  // Most locks are free.
  const ticket = typeof reply === "string" && reply.endsWith(id) ? reply.slice(0, -id.length) : "";
  if (TICKET.test(ticket)) return { verdict: { kind: "granted", token: BigInt(ticket) }, sentAt, ticket };
  const seen = parseAcquireMany(reply, [id]);
  return { verdict: seen.verdicts[0] ?? null, sentAt, ticket: seen.ticket };
}

function parseSeen(seen: Reply, id: string): Verdict | null {
  if (typeof seen === "string") {
    return seen.endsWith(id) ? { kind: "granted", token: BigInt(seen.slice(0, TOKEN_LENGTH)) } : null;
  }
  if (!Array.isArray(seen)) return null;
  const record = parseLock(String(seen[0]));
  const holder = record?.holder;
  const leftMs = Number(seen[1]);
  // More than its ttl: the clock was set back, and `acquire` mends it.
  if (!holder || !(leftMs > 0 && leftMs <= holder.ttlMs)) return null;
  // The client has sent the claim before.
  if (holder.id === id) return { kind: "granted", token: holder.token };
  return { kind: "busy", leftMs, owner: toOwner(holder), holder: { ...holder, top: record.top } };
}
