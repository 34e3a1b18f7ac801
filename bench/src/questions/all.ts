import { elections } from "./elections.js";
import { firstLease } from "./first-lease.js";
import { handOff } from "./hand-off.js";
import { heldLeases } from "./held-leases.js";
import { hotLock, hotLockBetween } from "./hot-lock.js";
import { hotProcesses } from "./hot-processes.js";
import { once } from "./once.js";
import { readWrite, semaphore } from "./permits.js";
import type { Question } from "./question.js";
import { queueLatency } from "./queue-latency.js";
import { lanes, queues } from "./queues.js";
import { allowing, refusing } from "./rate-limits.js";
import { records } from "./records.js";
import { redlock, redlockHot } from "./redlock.js";
import { signals } from "./signals.js";
import { standing } from "./standing.js";
import { uncontended } from "./uncontended.js";

export const questions: readonly Question[] = [
  uncontended,
  hotLock,
  hotLockBetween,
  hotProcesses,
  handOff,
  heldLeases,
  semaphore,
  readWrite,
  redlock,
  redlockHot,
  allowing,
  refusing,
  queues,
  queueLatency,
  lanes,
  signals,
  records,
  elections,
  once,
  standing,
  firstLease,
];
