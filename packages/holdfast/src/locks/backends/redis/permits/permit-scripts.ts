/**
 * PermitScripts: the scripts of one kind of permits, semaphores or read-write locks, on one server. Each method sends one script and
 * parses its reply into types.
 */
import type { HoldfastError, UnavailableError } from "../../../../errors.js";
import type { RenewOutcome } from "../../../../lease/keeper.js";
import { inboxChannel, permitKeys } from "../../../../redis/keys.js";
import type { RedisPort, Reply } from "../../../../redis/port.js";
import { type AnswerListener, replyRow } from "../../../../redis/reply.js";
import { partsOf } from "../../../../redis/slots.js";
import { Batcher } from "../../../../time/batcher.js";
import type { Claim, HandedOver, Holder } from "../../../backend.js";
import type { ClaimScripts } from "../claim-scripts.js";
import {
  type AcquireSettings,
  type ClaimPart,
  LockScripts,
  type LockScriptsContext,
  listensElsewhere,
  parseRelease,
  type ReleaseOutcome,
  type SentClaim,
} from "../lock-scripts.js";
import { Renewals } from "../renewals.js";
import { type AdoptAnswer, parseAdoption, type Verdict } from "../verdicts.js";
import { script as adoptScript } from "./lua/adopt.lua.js";
import { script as askScript } from "./lua/ask.lua.js";
import { script as changeScript } from "./lua/change.lua.js";
import { script as renewScript } from "./lua/renew.lua.js";
import { script as revokeScript } from "./lua/revoke.lua.js";
import { toOwner } from "./permit-state.js";

export type PermitNoun = "semaphore" | "rwlock";

interface Change {
  readonly id?: string;
  /** Permits that the lease keeps. */
  readonly keep?: number;
  readonly banMs?: number;
  /** "-": what claims say; "": as it was. */
  readonly limit?: string;
}

/** A lease that was taken away, as its value tells. */
interface Revoked {
  readonly nowUs: number;
  readonly id: string;
  readonly lease: string;
  readonly told: boolean;
}

interface Question {
  readonly claim: Claim;
  readonly heartbeat: number;
  /** "": a sign of life. */
  readonly terms: string;
}

interface Ask {
  readonly sent: SentClaim;
  readonly settings: AcquireSettings;
  readonly listener: AnswerListener<Verdict>;
}

interface End {
  readonly sent: SentClaim;
  readonly timeoutMs: number;
  readonly listener: AnswerListener<ReleaseOutcome>;
}

/** Questions or releases in one call: enough to share its cost, few enough that client and server overlap. */
const CHUNK = 32;

export class PermitScripts implements ClaimScripts {
  readonly #noun: PermitNoun;
  readonly #port: RedisPort;
  readonly #context: LockScriptsContext;
  /** Keeps account of the copies of claims. */
  readonly #accounts: LockScripts;
  readonly #renewals: Renewals;
  readonly #asks: Batcher<Ask>;
  readonly #ends: Batcher<End>;

  constructor(noun: PermitNoun, context: LockScriptsContext) {
    this.#noun = noun;
    this.#port = context.port;
    this.#context = context;
    this.#accounts = new LockScripts(context);
    this.#renewals = new Renewals(context, renewScript, (name) => this.#keys(name)[0] as string);
    this.#asks = new Batcher(
      CHUNK,
      (asks) => void this.#askMany(asks),
      (asks) => groupByInbox(this.#accounts.groupBySlot(asks)),
    );
    this.#ends = new Batcher(CHUNK, (ends) => void this.#endMany(ends), groupByName);
  }

  #keys(name: string): string[] {
    return permitKeys(this.#context.prefix, this.#noun, name);
  }

  get callTimeoutMs(): number {
    return this.#context.callTimeoutMs;
  }

  get disruptions(): number {
    return this.#port.disruptions;
  }

  account(claim: Claim): SentClaim {
    return { ...this.#accounts.account(claim), key: this.#keys(claim.name)[0] as string };
  }

  groupBySlot<Item extends { readonly sent: SentClaim }>(items: readonly Item[]): (readonly Item[])[] {
    return this.#accounts.groupBySlot(items);
  }

  banMs(sent: SentClaim): number {
    return this.#accounts.banMs(sent);
  }

  mayBeResent(sent: SentClaim): boolean {
    return this.#accounts.mayBeResent(sent);
  }

  unsent(sent: SentClaim): UnavailableError | null {
    return this.#accounts.unsent(sent);
  }

  hasLeft(sent: SentClaim): boolean {
    return this.#accounts.hasLeft(sent);
  }

  partOf(claim: Claim): ClaimPart {
    return {
      keys: this.#keys(claim.name),
      terms: `permits ${demandOf(claim)}`,
      toHeld: (holder) => ({ owner: toOwner(String(holder)) }),
    };
  }

  /** Takes the permits, waits in line for them, or returns a holder. The questions of one turn of the event loop go together. */
  acquire(sent: SentClaim, settings: AcquireSettings, listener: AnswerListener<Verdict>): void {
    this.#accounts.count(sent);
    this.#asks.add({ sent, settings, listener });
  }

  async #askMany(asks: readonly Ask[]): Promise<void> {
    const [{ settings }] = asks as readonly [Ask];
    // An answer that takes longer than the lease would be of no use.
    const timeoutMs = Math.max(...asks.map((ask) => Math.min(ask.settings.timeoutMs, ask.sent.claim.ttlMs)));
    const questions = asks.map(({ sent: { claim }, settings: { wait, heartbeat, ticket } }) => {
      return { claim, heartbeat, terms: `${demandOf(claim)} ${wait ? 1 : 0} ${ticket}` };
    });
    let verdicts: readonly Verdict[];
    try {
      verdicts = await this.#ask(questions, settings.inbox, timeoutMs);
    } catch (error) {
      const parts = partsOf(error, asks, (some) => this.groupBySlot(some));
      for (const part of parts ?? []) void this.#askMany(part);
      if (parts) return;
      const sent = asks.map((ask) => ask.sent);
      this.#accounts.discount(sent, error);
      for (const { listener } of asks) listener.failed(error as HoldfastError);
      return;
    }
    for (const [place, ask] of asks.entries()) {
      const verdict = verdicts[place] as Verdict;
      // Among others, that is also what a claim gets that the server refuses. By itself it hears why.
      if (verdict.kind === "unknown-id" && asks.length > 1) void this.#askMany([ask]);
      else {
        ask.sent.unanswered -= 1;
        ask.listener.answered(verdict);
      }
    }
  }

  /** Goes on with a lease that was handed over. */
  async adopt(sent: SentClaim, from: HandedOver): Promise<AdoptAnswer> {
    const { name, id, ttlMs, storeTtlMs, minFence } = sent.claim;
    const args = [from.id, String(from.fence), id, String(storeTtlMs), String(minFence)];
    args.push(this.#context.owner, listensElsewhere(this.#port));
    const timeoutMs = Math.min(this.callTimeoutMs, ttlMs);
    const reply = await this.#accounts.counted([sent], () =>
      this.#port.script(adoptScript, this.#keys(name), args, timeoutMs),
    );
    return parseAdoption(reply, id);
  }

  /** Gives signs of life for waiters of one slot, each with its number. */
  heartbeat(waiters: readonly (readonly [Claim, number])[], timeoutMs: number): Promise<Verdict[]> {
    const questions = waiters.map(([claim, heartbeat]) => ({ claim, heartbeat, terms: "" }));
    return this.#ask(questions, "", Math.min(timeoutMs, this.callTimeoutMs));
  }

  async #ask(questions: readonly Question[], inbox: string, timeoutMs: number): Promise<Verdict[]> {
    const places = new Map<string, number>();
    const keys: string[] = [];
    const args = [listensElsewhere(this.#port), inbox, this.#context.owner];
    for (const { claim, heartbeat, terms } of questions) {
      let place = places.get(claim.name);
      if (place === undefined) {
        place = places.size + 1;
        places.set(claim.name, place);
        keys.push(...this.#keys(claim.name));
      }
      args.push(String(place), claim.id, String(heartbeat), terms);
    }
    const row = replyRow(await this.#port.script(askScript, keys, args, timeoutMs), questions.length);
    return questions.map(({ claim }, place) => parseVerdict(row[place], claim.id));
  }

  /** Extends leases. Rejects when all outcomes are unknown. */
  renew(holders: readonly Holder[], timeoutMs: number): Promise<readonly RenewOutcome[]> {
    return this.#renewals.renew(holders, timeoutMs);
  }

  /** Ends a lease, or a wait. Those of one name and of one turn of the event loop end together. */
  release(sent: SentClaim, timeoutMs: number, listener: AnswerListener<ReleaseOutcome>): void {
    this.#ends.add({ sent, timeoutMs, listener });
  }

  async #endMany(ends: readonly End[]): Promise<void> {
    const [{ sent }] = ends as readonly [End];
    const timeoutMs = Math.max(...ends.map((end) => end.timeoutMs));
    const changes = ends.map((end) => ({ id: end.sent.claim.id, banMs: this.banMs(end.sent) }));
    let changed: readonly ReleaseOutcome[];
    try {
      changed = await this.#change(sent.claim.name, changes, timeoutMs);
    } catch (error) {
      for (const { listener } of ends) listener.failed(error as HoldfastError);
      return;
    }
    for (const [place, { listener }] of ends.entries()) listener.answered(changed[place] ?? "absent");
  }

  /** `release` sends them together by itself. */
  async releaseMany(sent: readonly SentClaim[]): Promise<boolean[]> {
    return sent.map(() => false);
  }

  /** Changes a lease, a wait or the number of permits. */
  async change(name: string, change: Change): Promise<ReleaseOutcome> {
    const [outcome] = await this.#change(name, [change], this.callTimeoutMs);
    return outcome as ReleaseOutcome;
  }

  /** Takes its permits from the holder with this fence. Null: there is none. */
  async revoke(name: string, fence: bigint): Promise<Revoked | null> {
    const args = [listensElsewhere(this.#port), String(fence), inboxChannel(this.#context.prefix, "")];
    const reply = await this.#port.script(revokeScript, this.#keys(name), args, this.callTimeoutMs);
    const [done, nowUs, id, lease, told] = replyRow(reply);
    if (Number(done) !== 1) return null;
    return { nowUs: Number(nowUs), id: String(id), lease: String(lease), told: Number(told) > 0 };
  }

  async #change(name: string, changes: readonly Change[], timeoutMs: number): Promise<ReleaseOutcome[]> {
    const args = [listensElsewhere(this.#port)];
    for (const { id = "", keep = 0, banMs = 0, limit = "" } of changes)
      args.push(id, String(keep), String(banMs), limit);
    const reply = await this.#port.script(changeScript, this.#keys(name), args, timeoutMs);
    return replyRow(reply, changes.length).map(parseRelease);
  }
}

/** Claims that a process brings in one turn ask by this channel, which is empty before the process listens. */
function groupByInbox(slots: readonly (readonly Ask[])[]): (readonly Ask[])[] {
  return slots.flatMap((asks) => grouped(asks, ({ settings }) => settings.inbox));
}

function groupByName(ends: readonly End[]): (readonly End[])[] {
  return grouped(ends, ({ sent }) => sent.key);
}

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): (readonly Item[])[] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return [...groups.values()];
}

/** What a claim takes, as the scripts read it: for how long, how many permits of how many, and its tokens. */
function demandOf({ mode, weight, permits = 1, storeTtlMs, turns, minFence }: Claim): string {
  return `${storeTtlMs} ${mode === "exclusive" ? permits : weight} ${permits} ${turns} ${minFence}`;
}

/** @throws {IndeterminateError} an answer of another shape, or to another claim than `id` */
function parseVerdict(reply: Reply | undefined, id: string): Verdict {
  const [status, first, second, ahead, ticket] = replyRow(reply);
  const kind = Number(status);
  if (kind === 1) {
    if (second !== id) replyRow(undefined); // throws
    return { kind: "granted", token: BigInt(String(first)) };
  }
  if (kind !== 0 && kind !== 2) return { kind: "unknown-id" };
  const busy = { leftMs: Number(first), owner: toOwner(String(second)) };
  if (kind === 0) return { kind: "busy", ...busy };
  return { kind: "in-line", ...busy, holder: null, ahead: Number(ahead), ticket: String(ticket) };
}
