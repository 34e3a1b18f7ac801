/** What is broken on purpose in a lock over one node, and the rule that finds it. */
import type { Canary } from "../../workload.js";
import { unfenced } from "./caller.js";

const room = "locks/backends/redis";
const lua = `${room}/lua`;
const keeper = "lease/keeper.ts";
const lease = "lease/held-lease.ts";
const waits = `${room}/waits.ts`;
const possession = "locks/possession.ts";

export const lateExpiry: Canary = {
  rule: "L6",
  what: "an expiry is noticed late",
  seed: 1,
  change: {
    file: keeper,
    from: "this.#schedule.at(endMs, () => this.#expire(hold))",
    to: "this.#schedule.at(endMs + 1_500, () => this.#expire(hold))",
  },
};

export const releasedGoesOn: Canary = {
  rule: "L8",
  what: "a lease that was released goes on with its hold",
  seed: 2,
  change: {
    file: lease,
    from: "if (this.#released || this.#loss) return 0;",
    to: "if (this.#loss) return 0;",
  },
};

export const hastyWaits: Canary = {
  rule: "W2",
  what: "a wait gives a sign of life after a fortieth of its ttl",
  seed: 4,
  change: { file: waits, from: "const HEARTBEAT_SHARE = 1 / 3;", to: "const HEARTBEAT_SHARE = 1 / 40;" },
};

export const hastyRenewals: Canary = {
  rule: "P4",
  what: "a renewal is due after a thirtieth of the ttl",
  seed: 1,
  change: { file: keeper, from: "const RENEW_SHARE = 1 / 3;", to: "const RENEW_SHARE = 1 / 30;" },
};

export const noLastTurn: Canary = {
  rule: "F2",
  what: "a grant has no last turn",
  seed: 2,
  change: { file: possession, from: "hold.turnsLeft === 0 || ", to: "" },
};

export const mutexCanaries: readonly Canary[] = [
  {
    rule: "L1",
    what: "the tokens of later turns are not reserved",
    seed: 9,
    change: { file: `${lua}/_state.lua`, from: "add(lock, token, request.turns - 1)", to: "token" },
  },
  {
    rule: "L2",
    what: "a token is the clock alone",
    seed: 18,
    change: { file: `${lua}/_token.lua`, from: "if token <= top then token = add(lock, top, 1) end", to: "" },
  },
  { rule: "L3", what: unfenced, seed: 68, isNaive: true },
  {
    rule: "L4",
    what: "a grant that nobody heard is taken back",
    seed: 308,
    change: {
      file: `${lua}/_line.lua`,
      from: "return keys.elsewhere or listens(waiter.inbox)\nend",
      to: `return true
end
local sent = send
local function send(channel, place, text)
  local heard, is_refused = sent(channel, place, text)
  return heard, is_refused or heard == 0
end`,
    },
  },
  {
    rule: "L4",
    what: "a held lock counts as free",
    seed: 1,
    change: {
      file: `${lua}/acquire-many.lua`,
      from: "#state == 17 and string.find(state, '^%d+ $')",
      to: "string.find(state, '^%d+ ')",
    },
  },
  {
    rule: "L5",
    what: "a renewal counts from its answer",
    seed: 9,
    change: { file: keeper, from: "hold.renewed(sentAt);", to: "hold.renewed(now);" },
  },
  {
    rule: "L5",
    what: "a grant counts from its message",
    seed: 2,
    change: {
      file: waits,
      from: "wait.waiting.granted(token, sentAt);",
      to: "wait.waiting.granted(token, this.#schedule.clock.now());",
    },
  },
  lateExpiry,
  releasedGoesOn,
  {
    rule: "L9",
    what: "a release frees nothing",
    seed: 1,
    change: {
      file: `${lua}/release.lua`,
      from: "redis.pcall('SET', lock, string.sub(held, 1, 17), 'KEEPTTL')",
      to: "{}",
    },
  },
  {
    rule: "P1",
    what: "a place that the node forgot is not asked for again",
    seed: 2,
    change: { file: waits, from: "wait.inLine = false;\n        this.#timer.set(wait, 0);", to: "" },
  },
  {
    rule: "W1",
    what: "nobody asks again when the messages come again",
    seed: 231,
    change: { file: waits, from: "const waits = [...this.#byId.values()];", to: "const waits: Wait[] = [];" },
  },
  {
    rule: "W1",
    what: "a hold that lingers goes back late",
    seed: 86,
    change: { file: possession, from: "Math.min(lingerMs, this.#passableMs(now))", to: "lingerMs * 5 + 500" },
  },
  {
    rule: "W1",
    what: "only the first in line asks when a lease can be over",
    seed: 165,
    change: {
      file: waits,
      from: "Math.min(beatMs, this.#lapseMs(verdict.leftMs, verdict.ahead))",
      to: "verdict.ahead === 0 ? Math.min(beatMs, this.#lapseMs(verdict.leftMs)) : beatMs",
    },
  },
  hastyWaits,
  {
    rule: "F1",
    what: "who comes takes a free lock past the line",
    seed: 15,
    change: { file: `${lua}/_line.lua`, from: "if state.flag == '+' then return end", to: "do return end" },
  },
  noLastTurn,
  {
    rule: "F3",
    what: "the record of a waiter stays when it leaves the line",
    seed: 1,
    change: { file: `${lua}/_waiters.lua`, from: "redis.call('HDEL', keys.waiters, id)", to: "" },
  },
  {
    rule: "F2",
    what: "a hold lingers for as long as it likes",
    seed: 32,
    change: {
      file: possession,
      from: "Math.min(lingerMs, this.#passableMs(now))",
      to: "this.#passableMs(now)",
    },
  },
  hastyRenewals,
];
