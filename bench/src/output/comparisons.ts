import type { CaseResult, ContestantResult } from "../result.js";

export interface Comparison {
  readonly head: string;
  of(each: ContestantResult): number | null;
}

/** The columns that compare, where there is something to compare with. */
export function comparisonsOf({ contestants }: CaseResult): Comparison[] {
  const all: Comparison[] = [
    { head: "×\nfloor", of: (each) => each.byFloor },
    { head: "× best\npeer", of: (each) => each.byBestPeer },
  ];
  return all.filter(({ of }) => contestants.some((each) => of(each) !== null));
}
