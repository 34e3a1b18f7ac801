/**
 * What each guard of the protocol is for: the smallest run in which something breaks when it is left out.
 * With all guards the same run holds, which is tested too.
 */
import type { Hope } from "../reach.js";
import { isFault } from "./actions.js";
import type { MutexModel } from "./mutex.js";
import type { Guard, MutexTerms } from "./terms.js";

export interface Mutant {
  readonly name: string;
  readonly guard: Guard;
  readonly terms: MutexTerms;
  /** What breaks: a rule of the model, or the hope that who waits gets the name. */
  readonly breaks: RegExp;
  /** Whether it is that hope. */
  readonly hope: boolean;
}

export const usual: MutexTerms = {
  acquires: [1, 1],
  ttl: 2,
  faults: 0,
  time: true,
  renewals: false,
  jumps: false,
  without: null,
};
const hopeless = /never gets it/;
export const timeless = { ...usual, time: false };

export const mutants: readonly Mutant[] = [
  mutant("ban", "a request that gave up is banned", { ...timeless, acquires: [1], faults: 1 }, /is over/),
  mutant("flag-looked-at", "take looks at the flag", { ...timeless, acquires: [1], faults: 1 }, /is over/),
  mutant("give-up", "giving up is told to the server", { ...timeless, faults: 1 }, /is over/),
  mutant("release-id", "a release checks the id", { ...usual, acquires: [2, 1] }, /two leases/),
  mutant("renewal-id", "a renewal checks the id", { ...usual, renewals: true }, /lease of another/),
  mutant(
    "lapsed",
    "a hold that lapsed stays lapsed",
    { ...usual, acquires: [1], renewals: true },
    /valid again/,
  ),
  mutant("answer-age", "an answer counts from when its question was sent", usual, /two leases/),
  mutant(
    "message-age",
    "a grant by message counts from the sign of life it names",
    { ...usual, acquires: [2, 1] },
    /two leases/,
  ),
  mutant("renewal-age", "a renewal counts from when it was sent", { ...usual, renewals: true }, /two leases/),
  mutant(
    "request-id",
    "a grant names its request",
    { ...timeless, acquires: [1, 2], faults: 1 },
    /not above|same token/,
  ),
  mutant(
    "write-first",
    "written first, told second",
    { ...timeless, acquires: [2, 1], faults: 1 },
    /not above|same token/,
  ),
  mutant("last-token", "the last token outlives the lease", timeless, /not above|same token/),
  mutant("subscribe-first", "subscribed first, in line second", timeless, hopeless),
  mutant("hand-over", "a release hands over", timeless, hopeless),
  mutant("flag-raised", "who stands in line raises the flag", timeless, hopeless),
  mutant("own-id", "the own id is success", { ...timeless, acquires: [1], faults: 1 }, hopeless),
  mutant("signs-of-life", "waiters give signs of life", { ...usual, ttl: 1, faults: 1 }, hopeless),
];

function mutant(name: string, guard: Guard, terms: MutexTerms, breaks: RegExp): Mutant {
  return { name, guard, terms, breaks, hope: breaks === hopeless };
}

/** From every state, if nothing more goes wrong, all who wait can get the name. */
export function hopeOf(model: MutexModel): Hope {
  return {
    rule: "somebody waits for the name and never gets it, although nothing more goes wrong",
    goal: (state) => !model.waits(state),
    allows: (action) => !isFault(action),
  };
}
