/** What is broken on purpose in locks over several nodes, and the rule that finds it. */

import type { Canary } from "../../workload.js";
import { unfenced } from "../mutex/caller.js";
import { hastyRenewals, hastyWaits, lateExpiry, noLastTurn, releasedGoesOn } from "../mutex/canaries.js";

const room = "locks/backends/redlock";

export const redlockCanaries: readonly Canary[] = [
  {
    rule: "L1",
    what: "a confirm raises nothing",
    seed: 1,
    change: {
      file: `${room}/lua/confirm.lua`,
      from: "if last <= state.top then return 1 end",
      to: "if last then return 1 end",
    },
  },
  {
    rule: "L2",
    what: "the token is not written back",
    seed: 13,
    change: {
      file: `${room}/redlock-claim.ts`,
      from: "grant !== null && grant.confirmedTo >= last",
      to: "grant !== null",
    },
  },
  { rule: "L3", what: unfenced, seed: 34, isNaive: true },
  {
    rule: "L4",
    what: "half of the nodes is a majority",
    seed: 18,
    change: { file: `${room}/votes.ts`, from: "Math.floor(nodes / 2) + 1", to: "Math.ceil(nodes / 2)" },
  },
  {
    rule: "L4",
    what: "a node votes as soon as it has started",
    seed: 90,
    change: {
      file: `${room}/membership.ts`,
      from: "const votesFromMs = quarantineMs === 0 ?",
      to: "const votesFromMs = quarantineMs >= 0 ?",
    },
  },
  {
    rule: "L5",
    what: "one node renews a lease",
    seed: 67,
    change: {
      file: `${room}/renewals.ts`,
      from: 'if (renewed >= this.#quorum) return "renewed";',
      to: 'if (renewed >= 1) return "renewed";',
    },
  },
  {
    rule: "L5",
    what: "a lease counts from the answer",
    seed: 1,
    change: {
      file: `${room}/votes.ts`,
      from: "return youngestFirst[quorumOf(nodes) - 1] ?? null;",
      to: "return now;",
    },
  },
  {
    rule: "L5",
    what: "a lease counts from the last of its seats",
    seed: 8,
    change: { file: `${room}/votes.ts`, from: "youngestFirst[quorumOf(nodes) - 1]", to: "youngestFirst[0]" },
  },
  { ...lateExpiry, seed: 33 },
  { ...releasedGoesOn, seed: 3 },
  {
    rule: "L9",
    what: "a release goes to a majority only",
    seed: 5,
    change: {
      file: `${room}/redlock-claim.ts`,
      from: 'this.seats.filter(({ state }) => state === "granted");',
      to: 'this.seats.filter(({ state }) => state === "granted").slice(0, this.#needed);',
    },
  },
  {
    rule: "W1",
    what: "nobody yields when asked",
    seed: 100,
    change: {
      file: `${room}/collecting.ts`,
      from: "else if (seat.wanted && comesBefore(seat.wanted, own)) seat.yield(ticket);",
      to: "",
    },
  },
  { ...hastyWaits, seed: 10 },
  noLastTurn,
  {
    rule: "F1",
    what: "the last that comes is the first in line",
    seed: 10,
    change: {
      file: `${room}/votes.ts`,
      from: "return known[(known.length - 1) >> 1] ?? own;",
      to: "return String(9_999_999_999_999_999n - BigInt(own));",
    },
  },
  {
    rule: "K1",
    what: "all nodes are needed",
    seed: 1,
    change: { file: `${room}/votes.ts`, from: "Math.floor(nodes / 2) + 1", to: "nodes" },
  },
  {
    rule: "K2",
    what: "a seat is kept without a majority",
    seed: 828,
    change: {
      file: `${room}/collecting.ts`,
      from: "seat.yieldAtMs = monoMs + ",
      to: "seat.yieldAtMs = 1e12 + ",
    },
  },
  {
    rule: "K3",
    what: "nobody returns to a node",
    seed: 3,
    change: {
      file: `${room}/returns.ts`,
      from: 'if (state === "absent" && node.silence === null)',
      to: "if (state === null)",
    },
  },
  { ...hastyRenewals, seed: 1 },
];
