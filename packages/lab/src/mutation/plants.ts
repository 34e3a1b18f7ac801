/**
 * Plants: defects that somebody thought of, each as a change of the text of one file. What each breaks is said, so that a
 * plant that lives says which promise nobody watches.
 */
import { Bundles } from "./bundle.js";
import { Runner } from "./runner.js";
import { readSource } from "./sources.js";
import type { Kill } from "./worker.js";

export interface Plant {
  readonly name: string;
  readonly breaks: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly from: string;
  readonly to: string;
}

const redis = "locks/backends/redis";
const line = "locks/local-line.ts";

export const plants: readonly Plant[] = [
  plant(
    "leftover-never-sent",
    "what was given up is released",
    `${redis}/leftovers.ts`,
    "await this.#send(request);",
    "",
  ),
  plant(
    "grant-message-ignored",
    "a grant by message is heard",
    `${redis}/waits.ts`,
    "if (!this.#granted(id, token, beat)) this.onStray",
    "if (false) this.onStray",
  ),
  plant(
    "onup-nothing",
    "who waits looks again when the inbox comes back",
    `${redis}/waits.ts`,
    "const waits = [...this.#byId.values()];",
    "const waits: Wait[] = [];",
  ),
  plant(
    "handover-to-dead",
    "the dead are passed over",
    `${redis}/_line.lua`,
    "(lives(keys, now, waiter) and reach(waiter))",
    "reach(waiter)",
  ),
  plant(
    "handover-to-deaf",
    "nothing is granted to who cannot be told",
    `${redis}/_line.lua`,
    "' ' .. candidate.ttl_ms .. ' ' .. keys.lock) > 0",
    "' ' .. candidate.ttl_ms .. ' ' .. keys.lock) >= 0",
  ),
  plant(
    "first-in-line-no-lapse-look",
    "the first in line looks when the lease can lapse",
    `${redis}/waits.ts`,
    "verdict.ahead === 0 ? Math.min(beatMs, this.#lapseMs(verdict.leftMs)) : beatMs",
    "beatMs",
  ),
  plant(
    "no-doubt",
    "a silent inbox is asked whether it lives",
    "redis/inbox.ts",
    "if (!subscription || !this.#up || this.#doubting) return;",
    "return;",
  ),
  plant(
    "line-reversed",
    "the line is served in order",
    `${redis}/_line.lua`,
    "redis.call('ZRANGE', keys.line, 0, 0)[1]",
    "redis.call('ZRANGE', keys.line, -1, -1)[1]",
  ),
  plant(
    "inbox-refused-never-settles",
    "a wait that may not listen is refused",
    `${redis}/waits.ts`,
    "for (const wait of this.#byId.values()) this.#failed(wait, error);",
    "for (const wait of this.#byId.values()) this.remove(wait);",
  ),
  plant(
    "release-says-released",
    "a release says what became of it",
    line,
    '(freed) => told(freed === "released" ? "released" : "lapsed")',
    '() => told("released")',
  ),
  plant(
    "wait-half",
    "a wait lasts for as long as was asked",
    "locks/waiters.ts",
    "since.monoMs + waitMs",
    "since.monoMs + waitMs / 2",
  ),
  plant(
    "tryAcquire-always-busy",
    "a try takes what is free",
    line,
    "if (this.#possession || this.#giveUp) return Promise.resolve(null);",
    "if (floor >= 0n) return Promise.resolve(null);",
  ),
  plant(
    "max-hold-ignored",
    "a hold ends at its limit",
    line,
    "const { maxHoldMs, name } = this.#terms;",
    "const { name } = this.#terms, maxHoldMs = Number.POSITIVE_INFINITY;",
  ),
  plant(
    "lock-delay-ignored",
    "a lease that ran out is nobody's for a while",
    line,
    "storeTtlMs: ttlMs + lockDelayMs",
    "storeTtlMs: ttlMs",
  ),
  plant(
    "abort-ignored",
    "a wait ends by its signal",
    "locks/waiters.ts",
    "if (signal) waiter.stopListening",
    "if (false) waiter.stopListening",
  ),
  plant(
    "no-ban",
    "a late copy of a request takes nothing",
    `${redis}/redis-locks.ts`,
    "return settled ? 0 : request.storeTtlMs;",
    "return settled ? 0 : 0;",
  ),
  plant(
    "deadline-from-reply",
    "a lease counts from when it was asked for",
    `${redis}/redis-locks.ts`,
    "(reply) => this.#taken(takings, reply, sentAt)",
    "(reply) => this.#taken(takings, reply, this.#schedule.clock.now())",
  ),
  plant(
    "give-no-id-check",
    "only the holder gives back, many at once",
    `${redis}/give.lua`,
    "type(held) == 'string' and string.sub(held, 17, 18 + #id) == ' ' .. id .. ' '",
    "type(held) == 'string'",
  ),
  plant(
    "renew-no-id-check",
    "only the holder renews",
    `${redis}/renew.lua`,
    "string.sub(held, 18, 18 + #id) == id .. ' '",
    "true",
  ),
  plant(
    "release-no-id-check",
    "only the holder gives back",
    `${redis}/release.lua`,
    "if state.id == id then",
    "if state.id then",
  ),
  plant(
    "token-no-plus1",
    "tokens rise",
    `${redis}/_state.lua`,
    "math.max(state.top + 1, tonumber(now)",
    "math.max(state.top, tonumber(now)",
  ),
  plant(
    "signal-never-aborts",
    "a loss is told",
    "lease/held-lease.ts",
    "this.#controller?.abort(this.#loss);",
    "",
  ),
  plant("never-renews", "a lease is kept", "lease/renewals.ts", "hold.renewed(sentAt);", ""),
  plant(
    "grant-ignores-beat",
    "a grant counts from the sign of life that it answers",
    `${redis}/waits.ts`,
    "wait.candidate.granted({ token, sentAt });",
    "wait.candidate.granted({ token, sentAt: this.#schedule.clock.now() });",
  ),
  plant(
    "no-drift",
    "clocks may differ by 1 %",
    "lease/deadline.ts",
    "const DRIFT_SHARE = 0.01;",
    "const DRIFT_SHARE = 0;",
  ),
  plant(
    "gone-key-no-ttl",
    "no key stays for ever",
    `${redis}/release.lua`,
    "redis.call('PEXPIRE', gone, ban_ms)",
    "redis.call('PERSIST', gone)",
  ),
  plant(
    "woken-leaves-alone",
    "who is woken and gives up wakes the next",
    `${redis}/release.lua`,
    "if left > 0 and not state.id then wake() end",
    "",
  ),
];

function plant(name: string, breaks: string, file: string, from: string, to: string): Plant {
  return { name, breaks, file, from, to };
}

/** The whole file, changed. @throws {RangeError} it is not what it was when the plant was made */
export function planted({ name, file, from, to }: Plant): string {
  const source = readSource(file);
  const parts = source.split(from);
  if (parts.length !== 2)
    throw new RangeError(`the plant ${name} fits ${parts.length - 1} places of ${file}`);
  return parts.join(to);
}

/** One plant on the first seeds. Null: it lives. */
export async function tryPlant(plant: Plant, seeds: readonly number[]): Promise<Kill | null> {
  const bundles = new Bundles();
  const runner = new Runner();
  try {
    const library = await bundles.make(new Map([[plant.file, planted(plant)]]));
    return (await runner.try({ library, seeds })).kill;
  } finally {
    await runner.end();
    bundles.remove();
  }
}
