/** Rounds made by hand: what a judge is given. */

import type { Fault } from "../../src/chaos/fault.ts";
import type { Round } from "../../src/chaos/round.ts";
import { History } from "../../src/history/history.ts";
import type { Operation } from "../../src/history/operation.ts";

export function roundOf(history: History, faults: readonly Fault[] = [], about: Partial<Round> = {}): Round {
  return {
    seed: 1,
    history,
    faults,
    skipped: 0,
    healedMs: 50_000,
    endMs: 60_000,
    ttlMs: 1_000,
    callTimeoutMs: 500,
    deathsMs: new Map(),
    remains: [],
    eternal: [],
    off: new Map(),
    workloads: [],
    ...about,
  };
}

export function historyOf(...operations: Operation[]): History {
  return History.of(operations);
}

/** Of one that begins at `invMs` and is granted `token` at `retMs`. */
export function acquire(
  process: string,
  seq: number,
  invMs: number,
  retMs: number,
  token: bigint,
  nonce = String(token),
): Operation {
  const value = { waitMs: 1_000, ttlMs: 1_000 };
  return { process, seq, f: "acquire", key: "a", invMs, retMs, type: "ok", token, nonce, value };
}

export function hold(
  process: string,
  seq: number,
  fromMs: number,
  endMs: number | null,
  token: bigint,
  key = "a",
): Operation {
  const about = { process, seq, f: "hold", key, invMs: fromMs, token, nonce: String(token) };
  if (endMs === null) return { ...about, retMs: null, type: "info", validUntilMs: fromMs + 900 };
  return { ...about, retMs: endMs, type: "ok", endMs };
}
