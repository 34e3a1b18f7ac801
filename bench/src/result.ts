/** The result of a run: what is printed, drawn and written as JSON. */
import type { ContestantName } from "./contestants/contestant.js";
import type { FigureName, Figures } from "./figures.js";

export interface RunResult {
  readonly schema: 1;
  readonly at: string;
  readonly command: string;
  readonly machine: Machine;
  readonly rounds: number;
  readonly secondsPerSlice: number;
  readonly tookSeconds: number;
  readonly questions: readonly QuestionResult[];
}

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly os: string;
  readonly node: string;
  readonly redis: string;
  /** Average number of programs that wanted a core, when the run began: above 0.5, others were at work. */
  readonly loadBefore: number;
  readonly commit: string | null;
  readonly packages: Readonly<Record<string, string>>;
}

export interface QuestionResult {
  readonly id: QuestionId;
  readonly title: string;
  readonly method: string;
  readonly cases: readonly CaseResult[];
  readonly targets: readonly Target[];
}

export type QuestionId =
  | ("l1" | "l2" | "l3" | "l3p" | "l4" | "l5" | "l6" | "l6c")
  | ("s1" | "s2")
  | ("r1" | "r2")
  | ("q1" | "q2" | "q3")
  | ("signals" | "records" | "election" | "once")
  | ("standing" | "first-lease");

export interface CaseResult {
  readonly id: string;
  readonly title: string;
  /** What the contestants are ordered and compared by. */
  readonly primary: FigureName;
  readonly better: "more" | "less";
  /** Figures of the table; all are in the JSON. */
  readonly columns: readonly FigureName[];
  /** Whom "× floor" compares with. */
  readonly floor: ContestantName | null;
  readonly contestants: readonly ContestantResult[];
}

export interface ContestantResult {
  readonly name: string;
  readonly title: string;
  readonly kind: "holdfast" | "peer" | "by-hand";
  readonly rounds: readonly Figures[];
  /** Over the rounds: median, largest or sum, as src/figures.ts says. */
  readonly figures: Figures;
  /** Of the primary figure. */
  readonly least: number | null;
  readonly most: number | null;
  /** Median over the rounds of this contestant's primary figure by the other's of the same round. */
  readonly byFloor: number | null;
  readonly byBestPeer: number | null;
  /** Why it has no figures, or fewer rounds. */
  readonly failed: string | null;
}

export interface Target {
  readonly text: string;
  /** What was found, for people. */
  readonly found: string;
  /** Null: it was not measured. */
  readonly reached: boolean | null;
}
