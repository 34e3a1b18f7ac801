/** The mutex in the catalogue: the protocol as it is, and without each of its guards. */
import type { Entry } from "../entry.js";
import { hopeOf, mutants, timeless, usual } from "./mutants.js";
import { MutexModel } from "./mutex.js";
import type { MutexTerms } from "./terms.js";

const short = { ...usual, ttl: 1 };

export const mutexEntries: readonly Entry[] = [
  entry("mutex", "2 clients, no faults", usual, { hope: true }),
  entry("mutex-renewals", "2 clients that renew, no faults", { ...usual, renewals: true }, { hope: true }),
  entry(
    "mutex-short",
    "2 clients that renew, 1 fault, a ttl of one moment",
    { ...short, renewals: true, faults: 1 },
    { hope: true },
  ),
  entry(
    "mutex-2-1",
    "2 clients, 2 acquires and 1, no faults, a ttl of one moment",
    { ...short, acquires: [2, 1] },
    { hope: true },
  ),
  entry(
    "mutex-no-time",
    "2 clients, 2 acquires each, no faults, messages alone",
    { ...timeless, acquires: [2, 2] },
    { hope: true },
  ),
  entry(
    "mutex-3-no-time",
    "3 clients, no faults, messages alone",
    { ...timeless, acquires: [1, 1, 1] },
    { hope: true },
  ),
  entry(
    "mutex-2-2-faults",
    "2 clients, 2 acquires each, 1 fault, messages alone",
    { ...timeless, acquires: [2, 2], faults: 1 },
    {},
  ),
  entry("mutex-fault", "2 clients, 1 fault", { ...usual, faults: 1 }, { hope: true, long: true }),
  entry(
    "mutex-renewals-fault",
    "2 clients that renew, 1 fault",
    { ...usual, renewals: true, faults: 1 },
    { hope: true, long: true },
  ),
  entry(
    "mutex-jumps",
    "2 clients, 1 fault, the server's clock may jump: tokens only",
    { ...usual, faults: 1, jumps: true },
    { long: true },
  ),
  ...mutants.map(({ name, guard, terms, breaks, hope }): Entry => {
    const made = entry(`without-${name}`, `without: ${guard}`, { ...terms, without: guard }, { hope });
    return { ...made, expect: "broken", breaks };
  }),
];

function entry(
  name: string,
  title: string,
  terms: MutexTerms,
  { hope = false, long = false }: { readonly hope?: boolean; readonly long?: boolean },
): Entry {
  const made: Entry = { name, title, expect: "holds", long, model: () => new MutexModel(terms) };
  return hope ? { ...made, hope: (model) => hopeOf(model as MutexModel) } : made;
}
