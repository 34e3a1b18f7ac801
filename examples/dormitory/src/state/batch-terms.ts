/** The hash of a batch in Redis, and the batch that it says. */
import { type Batch, type BatchTerms, stateOf } from "../domain/batch.js";

export type Meta = Readonly<Record<string, string>>;

/** Null: there is no such batch. */
export function toBatch(id: string, meta: Meta, nowMs: number): Batch | null {
  const { name, startsAtMs, endsAtMs, way, archived, version } = meta;
  if (version === undefined || name === undefined) return null;
  const terms: BatchTerms = {
    name,
    startsAtMs: Number(startsAtMs),
    endsAtMs: Number(endsAtMs),
    way: way === "lanes" ? "lanes" : "locks",
    archived: archived === "yes",
  };
  return {
    id,
    name,
    startsAtMs: terms.startsAtMs,
    endsAtMs: terms.endsAtMs,
    way: terms.way,
    state: stateOf(terms, nowMs),
    version: BigInt(version),
  };
}

/** Pairs of a flat reply as an object. */
export function toMeta(flat: readonly string[]): Meta {
  const meta: Record<string, string> = {};
  for (let at = 0; at + 1 < flat.length; at += 2) meta[flat[at] as string] = flat[at + 1] as string;
  return meta;
}

/** The reply of TIME in milliseconds. */
export function toMs(time: unknown): number {
  const [seconds, micros] = time as [string, string];
  return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
}
