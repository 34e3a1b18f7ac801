/** All models there are, in the order in which they run. */
import type { Entry } from "./entry.js";
import { quorumEntries } from "./quorum/entries.js";
import { leaseEntries } from "./quorum/lease-entries.js";

export const catalogue: readonly Entry[] = [...quorumEntries, ...leaseEntries];
