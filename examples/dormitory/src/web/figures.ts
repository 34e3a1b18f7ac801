/** The live figures of a batch as texts: the page and the answers to its script have the same. */
import type { BatchFigures } from "../domain/batch.js";
import type { Texts } from "./texts/texts.js";

export function figuresOf(figures: BatchFigures, { admin }: Texts): Readonly<Record<string, string>> {
  const { decided } = figures;
  return {
    students: admin.figure(figures.students),
    queue: admin.figure(figures.queued),
    taken: `${admin.figure(figures.taken)} / ${admin.figure(figures.beds)}`,
    decided: admin.figure(decided.done + decided.refused + decided.regretted),
    rate: admin.perSecond(figures.perSecond),
  };
}
