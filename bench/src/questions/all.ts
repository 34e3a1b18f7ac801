import { firstLease } from "./first-lease.js";
import { handOff } from "./hand-off.js";
import { heldLeases } from "./held-leases.js";
import { hotLock, hotLockBetween } from "./hot-lock.js";
import type { Question } from "./question.js";
import { allowing, refusing } from "./rate-limits.js";
import { uncontended } from "./uncontended.js";

export const questions: readonly Question[] = [
  uncontended,
  hotLock,
  hotLockBetween,
  handOff,
  heldLeases,
  allowing,
  refusing,
  firstLease,
];
