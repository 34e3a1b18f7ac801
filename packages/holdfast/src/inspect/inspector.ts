/** Inspector: looks at locks and limits from outside, and takes a lock from its holder when somebody must. */

import { checkLockName, checkOptions, checkWord } from "../arguments.js";
import { InvalidArgumentError, ServerError } from "../errors.js";
import { limitTypes } from "../limits/types.js";
import { inboxChannel, limitKey, lockKeys, lockNameOf } from "../redis/keys.js";
import type { RedisPort } from "../redis/port.js";
import { replyRow } from "../redis/reply.js";
import { script as forceReleaseScript } from "./force-release.lua.js";
import { type LimitName, type LimitState, limitNameOf, limitStateOf } from "./limit-state.js";
import { holderOf, type LockHolder, type LockState, lastFenceOf, stateOf } from "./lock-state.js";
import { script as lookScript } from "./look.lua.js";
import { script as lookLimitsScript } from "./look-limits.lua.js";
import { escaped, matcherOf } from "./pattern.js";

export interface LocksOptions {
  /** Which names, as Redis matches them: `*` anything, `?` one character, `[ab]` one of these. @default "*" */
  readonly pattern?: string | undefined;
  /** Also those that nobody holds or waits for, but somebody held in the last 24 hours. @default false */
  readonly free?: boolean | undefined;
}

export interface LimitsOptions {
  /** Which names, as Redis matches them. @default "*" */
  readonly pattern?: string | undefined;
  /** Which targets, likewise. @default "*" */
  readonly target?: string | undefined;
}

export interface ForceReleaseOptions {
  /** Only from the holder of this token: whoever came after the look keeps the lock. */
  readonly fence?: bigint | undefined;
}

/**
 * - `released`: taken from its holder, and free now
 * - `handed-over`: taken from its holder, and given to the first in line
 * - `free`: nobody held it; nothing was done
 * - `changed`: somebody holds it, but not with the given fence; nothing was done
 */
export type ForceReleaseOutcome = "released" | "handed-over" | "free" | "changed";

export interface ForceReleaseResult {
  readonly outcome: ForceReleaseOutcome;
  /** Who held it before; null when it was free. */
  readonly holder: LockHolder | null;
  /** Whether the old holder's process got the message. If not, it learns of it by its next renewal. */
  readonly told: boolean;
  /** Who holds it now. */
  readonly next: LockHolder | null;
  /** Above every token of the old holder. */
  readonly lastFence: bigint;
}

/** The first of the line that are listed, for one lock and for each of many. */
const MOST_WAITERS = 1_000;
const MOST_WAITERS_IN_LIST = 100;
/** Keys that one SCAN looks at, and locks that one script reads: short enough for the server to serve others. */
const SCAN_COUNT = 1_000;
const CHUNK = 50;

export class Inspector {
  readonly #port: RedisPort;
  readonly #prefix: string;
  readonly #callTimeoutMs: number;

  /** Given by `hf.inspector()`. */
  constructor(port: RedisPort, prefix: string, callTimeoutMs: number) {
    this.#port = port;
    this.#prefix = prefix;
    this.#callTimeoutMs = callTimeoutMs;
  }

  /**
   * One lock as it is at one moment. A name that was never used is free.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async lock(name: string): Promise<LockState> {
    const [state] = await this.#look([checkLockName(name)], MOST_WAITERS);
    if (state) return state;
    throw new ServerError(`WRONGTYPE the keys of the lock '${name}' hold something else`);
  }

  /**
   * Every lock that is held or waited for, each as it is when it is read, in no order. The names are found
   * by SCAN, which passes over all keys of the database in small steps: the server serves others between.
   * A lock that is taken meanwhile may be missed.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async *locks(options: LocksOptions = {}): AsyncGenerator<LockState, void, undefined> {
    checkOptions("options", options, ["pattern", "free"]);
    const { pattern = "*", free = false } = options;
    checkPattern("pattern", pattern);
    const match = `${escaped(this.#prefix)}:{${pattern}}:lock`;
    for await (const names of this.#found(match, (key) => lockNameOf(this.#prefix, key))) {
      for (let start = 0; start < names.length; start += CHUNK) {
        const states = await this.#look(names.slice(start, start + CHUNK), MOST_WAITERS_IN_LIST);
        for (const state of states) {
          if (state && (state.holder || state.waiting > 0 || (free && state.lastFence > 0n))) yield state;
        }
      }
    }
  }

  /**
   * Takes the lock from its holder. The first in line gets it, as by a release; the old holder's lease ends
   * with the reason `revoked`, at once when its process listens, by its next renewal when it does not.
   * What it writes until then carries an older fence than the next holder's.
   * @throws {InvalidArgumentError} @throws {ServerError} nothing was done
   * @throws {IndeterminateError} it may have been done: give the fence again, or look
   */
  async forceRelease(name: string, options: ForceReleaseOptions = {}): Promise<ForceReleaseResult> {
    checkOptions("options", options, ["fence"]);
    const { fence } = options;
    if (fence !== undefined && (typeof fence !== "bigint" || fence <= 0n)) {
      throw new InvalidArgumentError("fence", "must be a bigint above 0n");
    }
    const keys = lockKeys(this.#prefix, checkLockName(name));
    const args = [String(fence ?? 0n), inboxChannel(this.#prefix, "")];
    const reply = await this.#port.script(forceReleaseScript, keys, args, this.#callTimeoutMs);
    const [done, now, held, expiryMs, after = held, told] = replyRow(reply, 4);
    const holder = holderOf(String(held), Number(expiryMs), Number(now));
    const next = holderOf(String(after), Number.POSITIVE_INFINITY, Number(now));
    const outcome = Number(done) === 1 ? (next ? "handed-over" : "released") : holder ? "changed" : "free";
    return {
      outcome,
      holder,
      told: Number(told ?? 0) > 0,
      next,
      lastFence: lastFenceOf(String(after)) ?? 0n,
    };
  }

  /**
   * What is used of a limit by one target: one state for each type that the name has been used with, none where
   * nothing is used.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async limit(name: string, target: string): Promise<LimitState[]> {
    checkWord("name", name);
    checkWord("target", target);
    return this.#lookAtLimits(limitTypes.map((type) => ({ type, name, target })));
  }

  /**
   * Every limit and target of which something is used, in no order, found as `locks` finds them.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async *limits(options: LimitsOptions = {}): AsyncGenerator<LimitState, void, undefined> {
    checkOptions("options", options, ["pattern", "target"]);
    const { pattern = "*", target = "*" } = options;
    checkPattern("pattern", pattern);
    checkPattern("target", target);
    const match = `${escaped(this.#prefix)}:{${target}}:limit:*:${pattern}`;
    const [isNamed, isTarget] = [matcherOf(pattern), matcherOf(target)];
    for await (const found of this.#found(match, (key) => limitNameOf(this.#prefix, key))) {
      const meant = found.filter((limit) => isNamed(limit.name) && isTarget(limit.target));
      for (let start = 0; start < meant.length; start += CHUNK)
        yield* await this.#lookAtLimits(meant.slice(start, start + CHUNK));
    }
  }

  /**
   * From now on the target has used nothing of the limit, whatever its type. A process that remembers a refusal goes on
   * refusing until it would have changed by itself.
   * @returns what was used before
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async resetLimit(name: string, target: string): Promise<LimitState[]> {
    const states = await this.limit(name, target);
    const keys = limitTypes.map((type) => limitKey(this.#prefix, type, name, target));
    await this.#port.command(["DEL", ...keys], this.#callTimeoutMs);
    return states;
  }

  async #look(names: readonly string[], most: number): Promise<(LockState | null)[]> {
    const keys = names.flatMap((name) => lockKeys(this.#prefix, name));
    const reply = await this.#port.script(lookScript, keys, [String(most)], this.#callTimeoutMs);
    const [now, ...rows] = replyRow(reply, names.length + 1);
    return names.map((name, place) => stateOf(name, rows[place], Number(now)));
  }

  async #lookAtLimits(limits: readonly LimitName[]): Promise<LimitState[]> {
    const keys = limits.map(({ type, name, target }) => limitKey(this.#prefix, type, name, target));
    const reply = await this.#port.script(lookLimitsScript, keys, [], this.#callTimeoutMs);
    const [now, ...rows] = replyRow(reply, limits.length + 1);
    return limits
      .map((limit, place) => limitStateOf(limit, rows[place], Number(now)))
      .filter((state) => state !== null);
  }

  /** What the keys that match are, each once. `null` of `nameOf`: not ours. */
  async *#found<Name>(match: string, nameOf: (key: string) => Name | null): AsyncGenerator<Name[], void> {
    const found = new Set<string>();
    let cursor = "0";
    do {
      // The client may put a prefix of its own before every key; the look tells whose keys they are.
      const args = ["SCAN", cursor, "MATCH", `*${match}`, "COUNT", String(SCAN_COUNT)];
      const [next, reply] = replyRow(await this.#port.command(args, this.#callTimeoutMs), 2);
      cursor = String(next);
      const keys = Array.isArray(reply) ? reply.map(String) : [];
      // SCAN may tell of a key twice.
      const fresh = keys.filter((key) => !found.has(key) && found.add(key));
      const names = fresh.map(nameOf).filter((name) => name !== null);
      if (names.length > 0) yield names;
    } while (cursor !== "0");
  }
}

function checkPattern(argument: string, pattern: unknown): void {
  if (typeof pattern !== "string" || pattern === "")
    throw new InvalidArgumentError(argument, "must be text, such as deploy*");
}
