/** Fences as the scripts compare them: text, because numbers in Lua end at 2^53. */
import type { Fenced } from "holdfast";

export interface FenceEntry {
  readonly name: string;
  readonly token: string;
  readonly id: string;
}

const DIGITS = 20;

export function fenceEntry(name: string, { fence, id }: Fenced): FenceEntry {
  return { name, token: fence.toString().padStart(DIGITS, "0"), id };
}
