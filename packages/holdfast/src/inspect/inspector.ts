/** Inspector: looks at locks from outside, and takes one from its holder when somebody must. */

import { checkLockName, checkOptions } from "../arguments.js";
import { ServerError } from "../errors/refusals.js";
import { InvalidArgumentError } from "../errors.js";
import { inboxChannel, lockKeys, lockNameOf } from "../redis/keys.js";
import type { RedisPort, Reply } from "../redis/port.js";
import { replyRow } from "../redis/reply.js";
import { script as forceReleaseScript } from "./force-release.lua.js";
import { holderOf, type LockHolder, type LockState, lastFenceOf, stateOf } from "./lock-state.js";
import { script as lookScript } from "./look.lua.js";

export interface LocksOptions {
  /** Which names, as Redis matches them: `*` anything, `?` one character, `[ab]` one of these. @default "*" */
  readonly pattern?: string | undefined;
  /** Also those that nobody holds or waits for, but somebody held in the last 24 hours. @default false */
  readonly free?: boolean | undefined;
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
    if (typeof pattern !== "string" || pattern === "") {
      throw new InvalidArgumentError("pattern", "must be text, such as deploy*");
    }
    for await (const names of this.#names(pattern)) {
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

  async #look(names: readonly string[], most: number): Promise<(LockState | null)[]> {
    const keys = names.flatMap((name) => lockKeys(this.#prefix, name));
    const reply = await this.#port.script(lookScript, keys, [String(most)], this.#callTimeoutMs);
    const [now, ...rows] = replyRow(reply, names.length + 1);
    return names.map((name, place) => stateOf(name, rows[place], Number(now)));
  }

  /** The names of the locks that may match, each once. */
  async *#names(pattern: string): AsyncGenerator<string[], void, undefined> {
    // The client may put a prefix of its own before every key; the look tells whose keys they are.
    const match = `*${escaped(this.#prefix)}:{${pattern}}:lock`;
    const found = new Set<string>();
    let cursor = "0";
    do {
      const args = ["SCAN", cursor, "MATCH", match, "COUNT", String(SCAN_COUNT)];
      const [next, keys] = replyRow(await this.#port.command(args, this.#callTimeoutMs), 2);
      cursor = String(next);
      const fresh = this.#freshNames(keys, found);
      if (fresh.length > 0) yield fresh;
    } while (cursor !== "0");
  }

  /** SCAN may tell of a key twice. */
  #freshNames(keys: Reply | undefined, found: Set<string>): string[] {
    const names = Array.isArray(keys) ? keys.map((key) => lockNameOf(this.#prefix, String(key))) : [];
    return names.filter((name): name is string => {
      if (!name || found.has(name)) return false;
      found.add(name);
      return true;
    });
  }
}

/** What means something in a pattern stands for itself. */
function escaped(text: string): string {
  return text.replaceAll(/[*?[\]\\^]/g, "\\$&");
}
