/** Evidence: what is kept of a round that went wrong. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { drawHtml } from "../timeline/html.js";
import { drawSvg } from "../timeline/svg.js";
import type { Verdict } from "./judge.js";
import { pictureOf } from "./picture.js";
import type { Round } from "./round.js";

/** Writes the history, the faults, the verdict and a picture of the first violation beside what the workers wrote. */
export function keepEvidence(folder: string, round: Round, { violations }: Verdict): void {
  const json = (value: unknown) =>
    JSON.stringify(value, (_, each) => (typeof each === "bigint" ? String(each) : each), 2);
  writeFileSync(join(folder, "history.ndjson"), round.history.toNdjson());
  writeFileSync(join(folder, "faults.json"), json({ seed: round.seed, faults: round.faults }));
  writeFileSync(join(folder, "violations.json"), json(violations));
  const [first] = violations;
  if (!first) return;
  const picture = pictureOf(first, round);
  writeFileSync(join(folder, "violation.svg"), drawSvg(picture));
  writeFileSync(join(folder, "violation.html"), drawHtml(picture));
}
