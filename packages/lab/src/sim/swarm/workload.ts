/**
 * Workload: what the processes of a run do with one noun of the library, and the rules that it must keep. The frame draws
 * plans, begins and ends processes, strikes with faults, heals, and judges what holds for every noun (P1, P2, P3).
 */
import type { Holdfast } from "holdfast";
import type { Node } from "../node.js";
import type { Caller } from "./caller.js";
import type { Kind } from "./faults/kind.js";
import type { Draw, Plan } from "./plan.js";
import type { Rounds } from "./rounds.js";
import type { EvictedKeys, Scene } from "./scene.js";

export { type Caller, givenUp } from "./caller.js";
export { type Rounds, round } from "./rounds.js";
export type { EvictedKeys, Scene } from "./scene.js";

export interface Workload<Drawn extends Plan = Plan> {
  /** As `npm run lab -- --workload` takes it. */
  readonly name: string;
  /** One sentence: what its callers do. */
  readonly about: string;
  /** The rules of its own, by id, each in a few words. */
  readonly rules: Readonly<Record<string, string>>;
  /** Statements about the stored data of the noun that are true between any two scripts, each with the id of the rule that watches it. */
  readonly invariants: Readonly<Record<string, string>>;
  /** One at least for each rule. */
  readonly canaries: readonly Canary[];
  /** The states of the noun that a fault may meet. @default "met" alone */
  readonly states?: readonly string[];
  /** The faults that its plans have. @default those of one node, its network and its processes */
  readonly kinds?: readonly Kind[];
  /** Draws the plan of a seed. @default `drawLightPlan` */
  draw?(seed: number, kinds: readonly Draw[]): Drawn;
  /** Called once for each run, before any process begins. */
  begin(scene: Scene<Drawn>): Work;
}

/** What a workload does in one run. */
export interface Work {
  /** Called once for each caller in each life of a process. */
  join(caller: Caller): Rounds;
  /** Looks at the nodes, past every fault, every 100 ms while one of them is up. */
  look?(): void;
  /** The states of the noun that a fault meets now. @default "met" */
  states?(): readonly string[];
  /** A process has closed its Holdfast before the run ended: it waits for nothing and holds nothing. */
  closed?(process: string): void;
  /**
   * Called when the callers are done, and again when what the dead held has expired: what no caller wants must not be
   * left. The first call comes only if the run was undisturbed.
   */
  left?(): void;
  /** Judges the run when it is over. */
  judge?(endMs: number): void;
  /** How much happened. A run without progress fails. */
  progress(): number;
  /** @default 1 */
  readonly leastProgress?: number;
  /** How long callers may take for their last operations, beyond the time of a lease. @default 30 s */
  readonly lastMs?: number;
  /** Keys of which the eviction fault deletes one group. @default each key that is there, as data */
  evictable?(node: Node): readonly EvictedKeys[];
  /** Whether this key may stay at the node for good. @default none may */
  mayStay?(key: string): boolean;
}

/** A broken library, or a naive recipe, that its rule must find. Exactly one of the three ways. */
export interface Canary {
  readonly rule: string;
  /** What is broken, in a few words; `--canary` takes it. */
  readonly what: string;
  /** A seed on which the rule finds it. Where a change of the library has moved the orders, `npm run lab -- --hunt 1000` names another. */
  readonly seed: number;
  /** The library with one text of a source replaced. */
  readonly change?: SourceChange;
  /** A class in the place of Holdfast. */
  readonly holdfast?: (base: typeof Holdfast) => typeof Holdfast;
  /** The workload itself does something else where `scene.canary` is `what`. */
  readonly isNaive?: true;
}

export interface SourceChange {
  /** Path below packages/holdfast/src. */
  readonly file: string;
  /** Must occur in it; the first occurrence is replaced. */
  readonly from: string;
  readonly to: string;
}
