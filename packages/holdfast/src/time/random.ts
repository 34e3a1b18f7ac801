/** The only door to randomness. */
import { randomBytes } from "node:crypto";

export interface Random {
  /** A number in [0, 1). */
  fraction(): number;
  /** A fresh id of at least 128 bits in URL-safe text; never repeats in practice. */
  id(): string;
}

/** Six bits each. */
const ID_LENGTH = 22;
/** Few: an id that is kept keeps the text of its pool alive. */
const POOL_IDS = 16;
const POOL_LENGTH = ID_LENGTH * POOL_IDS;
let pool = "";
let used = POOL_LENGTH;

export const systemRandom: Random = {
  fraction: () => Math.random(),
  id() {
    // One system call, and one text, for many ids: an id is drawn for every acquire.
    if (used === POOL_LENGTH) {
      pool = randomBytes((POOL_LENGTH * 6) / 8).toString("base64url");
      used = 0;
    }
    used += ID_LENGTH;
    return pool.slice(used - ID_LENGTH, used);
  },
};

/** `ms` less up to `share` of it, so that many processes do not act in step. */
export function jittered(random: Random, ms: number, share = 0.1): number {
  return ms * (1 - share * random.fraction());
}
