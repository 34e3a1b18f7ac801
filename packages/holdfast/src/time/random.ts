/** The only door to randomness. */
import { randomFillSync } from "node:crypto";

export interface Random {
  /** A number in [0, 1). */
  fraction(): number;
  /** A fresh 128-bit id in URL-safe text; never repeats in practice. */
  id(): string;
}

const ID_BYTES = 16;
const POOL_IDS = 256;
const pool = Buffer.alloc(ID_BYTES * POOL_IDS);
let used = POOL_IDS;

export const systemRandom: Random = {
  fraction: () => Math.random(),
  id() {
    // One system call per 256 ids: an id is drawn for every acquire.
    if (used === POOL_IDS) {
      randomFillSync(pool);
      used = 0;
    }
    const start = used++ * ID_BYTES;
    return pool.toString("base64url", start, start + ID_BYTES);
  },
};

/** `ms` less up to `share` of it, so that many processes do not act in step. */
export function jittered(random: Random, ms: number, share = 0.1): number {
  return ms * (1 - share * random.fraction());
}
