/** LimitIndex: a list of the limits and targets of which something may be used, so that all can be reset at once. */
import { type All, checkWord, oneOrAll, refuseSurplus } from "../arguments.js";
import { BoundedMap } from "../bounded-map.js";
import { ServerError } from "../errors.js";
import type { RedisContext } from "../redis/context.js";
import { limitIndexKey, limitKey } from "../redis/keys.js";
import { replyRow } from "../redis/reply.js";
import { bySlot } from "../redis/slots.js";
import { agedMs, type Instant } from "../time/clock.js";
import { script } from "./lua/note.lua.js";
import type { LimitSettings } from "./settings.js";

export type IndexContext = Pick<RedisContext, "breakerPort" | "schedule" | "prefix" | "callTimeoutMs">;

/** The part of `limit.of(target)` that an index reads. */
export interface IndexPart {
  readonly limit: { readonly settings: LimitSettings };
  readonly target: string;
}

/** @throws {InvalidArgumentError} */
export type CheckParts = (parts: unknown) => readonly IndexPart[];

/** How long a process need not note the same limit and target again. */
const FRESH_MS = 10_000;
/** Clocks differ in speed, and a key lives a moment longer than its state counts. */
const DRIFT_SHARE = 0.01;
const SLACK_MS = 2_000;
const FOR_EVER_MS = 100 * 366 * 86_400_000;
const MOST_FRESH = 10_000;
const SCAN_COUNT = "500";
/** Characters of a foreign member that an error shows. */
const LONGEST_SHOWN = 100;

export class LimitIndex {
  readonly #key: string;
  readonly #context: IndexContext;
  readonly #check: CheckParts;
  readonly #forget: (key: string) => void;
  readonly #noted = new BoundedMap<string, Instant>(MOST_FRESH);

  /** Made by `hf.limits.index(name)`. */
  constructor(name: string, context: IndexContext, check: CheckParts, forget: (key: string) => void) {
    this.#key = limitIndexKey(context.prefix, name);
    this.#check = check;
    this.#context = context;
    this.#forget = forget;
  }

  /**
   * Notes that something may be used of the limits and targets. To be called before each charge. Mostly they are noted
   * already, and nothing is sent.
   * @throws {UnavailableError} @throws {IndeterminateError} @throws {ServerError} they may not be noted: do not charge
   */
  async note(parts: readonly IndexPart[]): Promise<void> {
    const { breakerPort, schedule, callTimeoutMs } = this.#context;
    const now = schedule.clock.now();
    const fresh: string[] = [];
    const words: string[] = [];
    for (const { limit, target } of this.#check(parts)) {
      const { type, name, max } = limit.settings.policy;
      if (max === 0) continue;
      const member = JSON.stringify([type, name, target]);
      const since = this.#noted.get(member);
      if (since && agedMs(now, since) < FRESH_MS) continue;
      fresh.push(member);
      words.push(member, lifeMs(limit.settings).toFixed());
    }
    if (fresh.length === 0) return;
    await breakerPort.script(script, [this.#key], words, callTimeoutMs);
    for (const member of fresh) this.#noted.set(member, now);
  }

  /**
   * Resets the limits in the index that are called `name`, or every limit with `{ all: true }`: nothing of them is used any more. A
   * process that remembers a refusal goes on refusing until the refusal would have ended by itself.
   * @throws {UnavailableError} @throws {IndeterminateError} @throws {ServerError} some may have been reset; all that
   *   could be were, where it says WRONGTYPE, because another program has written to the key of the index
   */
  async reset(name: string | All): Promise<void> {
    const only = oneOrAll("name", name, checkWord);
    const { breakerPort, prefix, callTimeoutMs } = this.#context;
    let cursor = "0";
    let foreign: string | null = null;
    do {
      const scan = ["ZSCAN", this.#key, cursor, "COUNT", SCAN_COUNT];
      const [next, reply] = replyRow(await breakerPort.command(scan, callTimeoutMs), 2);
      cursor = String(next);
      // The reply has members and scores in turn; some clients make pairs of them.
      const members = replyRow(reply, 0)
        .flat()
        .filter((_, place) => place % 2 === 0);
      const limits: Member[] = [];
      for (const member of members.map(String)) {
        const limit = memberIn(member);
        if (limit) limits.push(limit);
        else foreign = member;
      }
      const keys = limits
        .filter(([, its]) => only === null || its === only)
        .map(([type, its, target]) => limitKey(prefix, type, its, target));
      for (const key of keys) this.#forget(key);
      // The entries stay until their time is over, because a process may be charging one of them just now.
      await bySlot(
        breakerPort,
        keys,
        (key) => key,
        async (group) => {
          if (group.length > 0) await breakerPort.command(["DEL", ...group], callTimeoutMs);
          return [];
        },
      );
    } while (cursor !== "0");
    if (foreign !== null)
      throw new ServerError(
        `WRONGTYPE the index ${this.#key} holds something else: ${JSON.stringify(foreign.slice(0, LONGEST_SHOWN))}`,
      );
  }
}

refuseSurplus(LimitIndex, { note: 1, reset: 1 });

/** The words that name a limit and its target in the index. */
type Member = readonly [type: string, name: string, target: string];

/** The member of an index. Null: another program wrote it. */
function memberIn(text: string): Member | null {
  try {
    const parsed: unknown = JSON.parse(text);
    const isMember =
      Array.isArray(parsed) && parsed.length === 3 && parsed.every((word) => typeof word === "string");
    return isMember ? (parsed as unknown as Member) : null;
  } catch {
    return null;
  }
}

/** Milliseconds until nothing is left of a charge that is made while the note is fresh. */
function lifeMs({ policy, burst }: LimitSettings): number {
  if (policy.perMs === null) return FOR_EVER_MS;
  return (
    Math.ceil((policy.perMs * Math.max(1, burst / policy.max) + FRESH_MS) * (1 + DRIFT_SHARE)) + SLACK_MS
  );
}
