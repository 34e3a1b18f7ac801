/** Verdict: what a run says, from what was looked for in it, and from whether there was anything to be seen. */
import type { Check, Evidence, Finding } from "./check.js";
import { type Need, unmetIn } from "./need.js";

/** "void": it shows nothing, because what had to happen first did not. */
export type Verdict = "fails" | "holds" | "void";

/** Which of the two: only the naive one is expected to fail. */
export type Side = "naive" | "holdfast";

export interface Judgement {
  readonly verdict: Verdict;
  readonly asExpected: boolean;
  /** What was looked for, and what was found. */
  readonly checks: readonly { readonly title: string; readonly findings: readonly Finding[] }[];
  /** What had to happen and did not. */
  readonly unmet: readonly string[];
}

export interface Expectations {
  readonly side: Side;
  readonly checks: readonly Check[];
  readonly needs: readonly Need[];
  /** @default whether it is holdfast's side */
  readonly withstands?: boolean;
}

export function judge(
  { side, checks, needs, withstands = false }: Expectations,
  evidence: Evidence,
): Judgement {
  const looked = checks.map(({ title, find }) => ({ title, findings: find(evidence) }));
  const unmet = [...unmetIn(needs, evidence), ...evidence.errors];
  return { checks: looked, unmet, ...verdictOf(withstands ? "holdfast" : side, looked, unmet) };
}

/**
 * What is expected needs its evidence: that a recipe breaks under a fault, that fault; that the library holds, work that
 * was done. A library that breaks has broken, whatever else did not happen.
 */
export function verdictOf(
  side: Side,
  checks: Judgement["checks"],
  unmet: readonly string[],
): Pick<Judgement, "verdict" | "asExpected"> {
  const isBroken = checks.some(({ findings }) => findings.length > 0);
  const isVoid = unmet.length > 0 && !(isBroken && side === "holdfast");
  const verdict = isVoid ? "void" : isBroken ? "fails" : "holds";
  return { verdict, asExpected: verdict === (side === "naive" ? "fails" : "holds") };
}

/** The sentence of a run that shows nothing. */
export function voidSentence(unmet: readonly string[]): string {
  const missing = unmet.join("; ");
  return `This run shows nothing: what had to happen first did not. ${missing.slice(0, 1).toUpperCase()}${missing.slice(1)}.`;
}
