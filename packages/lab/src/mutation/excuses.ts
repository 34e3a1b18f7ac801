/** Mutants that nobody needs to kill in a simulation, each with the reason. */
import type { Mutant } from "./mutant.js";

export interface Excuse {
  /**
   * - equivalent: no run of the program can be told from another
   * - cost: only slower, or more calls
   * - people: only what people are told
   */
  readonly kind: "equivalent" | "cost" | "people";
  readonly why: string;
}

type Reasons = readonly (readonly [why: string, ...keys: string[]])[];

/** By the file; a key that ends with an arrow is of all that takes the place. */
const equivalent: Readonly<Record<string, Reasons>> = {
  "lease/renewals.ts": [
    [
      "the clock is read once more in the same moment, to ask how much is left",
      "sentAt → this.#schedule.clock.now()",
      "sentAt → this.#schedule.clock.now() (2)",
    ],
  ],
  "lease/hold.ts": [
    [
      "nobody loses a hold that is over: whoever ends one takes it from the keeper first, and looks there",
      "this.#over → false (2)",
    ],
  ],
  "locks/local-line.ts": [
    ["an alarm at infinity is never set", "maxHoldMs !== Number.POSITIVE_INFINITY → true"],
  ],
};

const cost: Readonly<Record<string, Reasons>> = {
  "lease/hold.ts": [
    [
      "answers of one connection come in order; an older one would only end the lease earlier",
      "sentAt.monoMs > this.#sentAt.monoMs → true",
    ],
  ],
  "lease/keeper.ts": [
    [
      "attended at once, or 10 ms later: its first renewal is due after both",
      "hold.leftMs(now) < hold.ttlMs * FRESH_SHARE → ",
    ],
    [
      "a hold that was given back is visited once by the rounds, which know that",
      "this.#holds.has(hold) → true",
      "this.#holds.has(hold) → true (2)",
    ],
    ["what is loaded is used by the way for what is not", "this.#renewals.value → false"],
  ],
  "lease/renewals.ts": [
    ["an empty call, whose answer nobody believes", "live.length === 0 → false"],
    [
      "given back by a listener in the same round: one renewal more, whose answer is not believed",
      "!this.#kept.holds.has(hold) → false",
    ],
    [
      "the rounds pass over what is not kept, and what has its end set is over before they come",
      "this.#kept.holds.has(hold) && !hold.end → true",
    ],
    [
      "every pulse looks at every hold",
      "now.wallMs - last.wallMs - (now.monoMs - last.monoMs) < SUSPENDED_MS → false",
    ],
  ],
  "locks/local-line.ts": [
    [
      "asks the store although this process holds, or waits, itself: the store says that it is taken",
      "!this.#possession → true",
      "!this.#possession → true (2)",
      "this.#possession || this.#giveUp → false",
      "this.#attempt → false",
    ],
    [
      "asks for more than the last token although the store has not forgotten it: it gives more anyway",
      "this.#regressed && floor <= this.#highest → true",
    ],
    [
      "a turn is never passed on inside the process: each goes back to the store",
      "!next || hold.turnsLeft === 0 || next.floor > hold.nextToken → true",
      "this.#mayPassOn(possession) → false",
    ],
  ],
  "locks/backends/redis/_line.lua": [
    ["a flag that is up is written once more", "state.flag == '+' → false"],
    ["what is free is written as free once more", "written → true"],
  ],
  "locks/backends/redis/acquire.lua": [
    [
      "the short way of a free lock; the long one below does the same",
      "state.left_ms == 0 and state.flag == ' ' → false",
    ],
    ["two reads more", "state.flag == '+' or wait → true"],
  ],
  "locks/backends/redis/beat.lua": [
    [
      "told that it is not in line, a waiter asks by `acquire`, which knows its id and its ticket",
      "state.left_ms > 0 and state.id == id → false",
      "not waiter or not ticket → true",
    ],
    ["the nil raises an error below, which pcall makes the same {3} of", "not waiter or not ticket → false"],
  ],
  "locks/backends/redis/release.lua": [
    [
      "the short way where nobody waits; the long one below does the same",
      "mine == ' ' .. id .. ' ' → false",
    ],
    [
      "the short way of a hand-over; the long one below does the same",
      "mine == '+' .. id .. ' ' and not barging → false",
      "entry and keep_ms and expiry_ms > tonumber(keep_ms) → false",
      "lives and floor == '0' and string.sub(held, 1, 16) < now → false",
      "redis.call('PUBLISH', inbox, grant) > 0 → false",
    ],
    ["it is freed once more, by the long way, in the same script", "not freed.err → false"],
    ["a ban of 0 ms: a key that is gone at once, and everybody takes the long way", "ban_ms > 0 → true"],
    [
      "the first in line is woken instead of told: it asks, and nobody who asks meanwhile goes before it",
      "barging → true",
    ],
    [
      "the first in line is handed what others might have taken: barging is allowed, not promised",
      "barging → false",
    ],
    ["one for the other of the two", "barging → not (barging)", "ARGV[3] == '1' → ARGV[3] ~= '1'"],
  ],
  "locks/backends/redis/take.lua": [
    [
      "what `take` leaves, `acquire` takes",
      "not state or (#state == 17 and string.find(state, '^%d+ $') and string.sub(state, 1, 16) < now) → false",
      "#state == 17 → #state ~= 17",
      "type(state) == 'string' → false",
    ],
    [
      "the longer answer, which says the same",
      "#KEYS == 1 and type(seen[1]) == 'string' and seen[1] ~= '' → false",
    ],
  ],
  "locks/backends/redis/waits.ts": [
    [
      "a grant that is too old is given back by the line instead, which stands anew",
      "sentAt → this.#schedule.clock.now() (4)",
    ],
  ],
};

const people: Readonly<Record<string, Reasons>> = {
  "locks/backends/redis/server-clock.ts": [["what it knows is only told: clock-jump, token-ahead", ""]],
  "locks/backends/redis/redis-locks.ts": [
    [
      "of the server's clock, which is only told",
      "sentAt → this.#schedule.clock.now() (2)",
      "sentAt → this.#schedule.clock.now() (3)",
    ],
  ],
  "lease/renewals.ts": [
    ["only the event renewal-unknown", "kept.length === 0 → "],
    [
      "only the number in the event renewed",
      'outcome === "lost" → outcome !== "lost"',
      'outcome === "forgotten" → outcome !== "forgotten"',
    ],
    [
      "lost in either case; only whether it was taken or forgotten",
      'outcome === "lost" → !(outcome === "lost")',
      'outcome === "lost" → true',
      'outcome === "lost" → false',
    ],
  ],
  "lease/held-lease.ts": [
    ["only lateMs in the error", 'reason === "expired" → ', "sentAt → this.#clock.now()"],
    ["only the event released", 'result === "released" → '],
    ["told twice that it is lost", "this.#loss || this.#released → false"],
  ],
  "locks/local-line.ts": [
    [
      "only the event waiting",
      "joined → ",
      "ahead !== null → ahead === null",
      "(this.#busy?.ahead ?? null) === null → (this.#busy?.ahead ?? null) !== null",
    ],
    ["which error tells that the store was in trouble", "this.#trouble → false"],
  ],
};

const all = { equivalent, cost, people };

export function excuseOf({ key, file }: Mutant): Excuse | undefined {
  for (const [kind, files] of Object.entries(all))
    for (const [why, ...keys] of files[file] ?? [])
      for (const part of keys) {
        const begin = `${file}: ${part}`;
        const isMany = part === "" || part.endsWith("→ ");
        if (key === begin || (isMany && key.startsWith(begin))) return { kind: kind as Excuse["kind"], why };
      }
  return undefined;
}
