/** Every case of owners: re-entry, scopes, and the double check. */
import type { NounCase } from "../case.js";
import { doubleCheckCases } from "./double-check.js";
import { namedOwnerCases } from "./named.js";
import { reentryCases } from "./reentry.js";

export const ownershipCases: readonly NounCase[] = [...reentryCases, ...namedOwnerCases, ...doubleCheckCases];
