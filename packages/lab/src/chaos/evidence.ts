/** Evidence: what is kept of a round that went wrong. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Verdict } from "./judge.js";
import type { Round } from "./round.js";

/** Writes the history, the faults and the verdict beside the journals of the workers. */
export function keepEvidence(folder: string, round: Round, { violations }: Verdict): void {
  const json = (value: unknown) =>
    JSON.stringify(value, (_, each) => (typeof each === "bigint" ? String(each) : each), 2);
  writeFileSync(join(folder, "history.ndjson"), round.history.toNdjson());
  writeFileSync(join(folder, "faults.json"), json({ seed: round.seed, faults: round.faults }));
  writeFileSync(join(folder, "violations.json"), json(violations));
}
