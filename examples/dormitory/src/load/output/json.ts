/** The one line for programs. Fields may be added, none changes its meaning. */
import type { RunFacts } from "../run-facts.js";

export function jsonOf({ options, batches, server, outcomes, archive }: RunFacts): string {
  const ways = outcomes.map(({ result }) => result);
  const { students, servers, workers } = options;
  return JSON.stringify({ students, batches, ways, archive, servers, workers, server });
}
