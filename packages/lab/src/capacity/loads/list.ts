/** The loads whose cost is shown by the number of processes. */
import type { Load, Scale } from "../load.js";
import { handOver } from "./hand-over.js";
import { held } from "./held.js";
import { queuedAlone, queuedTogether } from "./queued.js";
import { refused, refusedInBlocks, refusedUncached } from "./refused.js";
import { waiting } from "./waiting.js";

export const loads: readonly Load[] = [
  held,
  waiting,
  handOver,
  refused,
  refusedInBlocks,
  refusedUncached,
  queuedAlone,
  queuedTogether,
];

const scale = { names: 1_000, callsPerSecond: 1_000, messages: 10_000 } as const;

/** Time costs nothing there. */
export const virtualScale: Scale = { ...scale, watchMs: 300_000, callsMs: 60_000, turnsMs: 10_000 };

export const realScale: Scale = { ...scale, watchMs: 30_000, callsMs: 10_000, turnsMs: 5_000 };
