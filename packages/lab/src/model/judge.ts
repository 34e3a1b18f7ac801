/** Judges a model of the catalogue: explores it, looks whether hope is left everywhere, compares with what is known. */
import type { Entry } from "./entry.js";
import { exploreSpace, type Progress } from "./explore.js";
import { reach } from "./reach.js";
import type { TraceStep } from "./trace.js";

export interface Judgement {
  readonly entry: Entry;
  readonly verdict: "holds" | "broken" | "too-many";
  readonly states: number;
  /** Steps between them. */
  readonly steps: number;
  /** To the farthest state, or to the broken rule. */
  readonly depth: number;
  readonly bytes: number;
  readonly rule?: string;
  readonly trace?: readonly TraceStep[];
}

export function judge(entry: Entry, onProgress: (progress: Progress) => void = () => {}): Judgement {
  const model = entry.model();
  const { exploration, space } = exploreSpace(model, { onProgress });
  const { verdict, states, steps, depth, bytes, rule, trace } = exploration;
  const found = { entry, verdict, states, steps, depth, bytes };
  if (rule !== undefined && trace) return { ...found, rule, trace };
  const hope = entry.hope?.(model);
  if (verdict !== "holds" || !hope) return found;
  const { trace: lost } = reach(model, space, hope);
  if (!lost) return found;
  return { ...found, verdict: "broken", depth: lost.length, rule: hope.rule, trace: lost };
}

export function asExpected({ entry, verdict, rule = "" }: Judgement): boolean {
  return verdict === entry.expect && (entry.breaks?.test(rule) ?? true);
}
