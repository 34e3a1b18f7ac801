/** D18: a mistake in a lock, found by the simulator, replayed, and made small enough to be understood. */
import type { Breach } from "../history/violation.js";
import { type Outcome as AnyOutcome, type Failure, planOf, runPlan, shrink } from "../sim/swarm/index.js";
import type { LockPlan } from "../sim/swarm/workloads/mutex/plan.js";
import { timelineOf } from "../timeline/from-history.js";
import type { Timeline } from "../timeline/timeline.js";
import {
  commandOf,
  type Experiment,
  type Outcome,
  type RunOptions,
  type TrialOutcome,
} from "./experiment.js";
import { holdfastWithout } from "./guardless.js";
import { verdictOf, voidSentence } from "./verdict.js";
import { counted, rounded, seconds } from "./words.js";

type SwarmOutcome = AnyOutcome<LockPlan>;

/** As the script marks it, and for people. */
const guard = "token rises";
const guardName = "a token is larger than the last one";
const mostSeeds = 200;
/** Of each run. */
const fewestGrants = 3;
/** After so many without any grant there will be none. */
const idleSeeds = 4;
/** What loses the server's data excuses a token that falls, and would hide the mistake. */
const losing = ["node crash", "rollback", "failover", "eviction", "flushall"];
const longestStepMs = 43_200_000;
/** Drawn: so much before and after. */
const beforeMs = 1_500;
const afterMs = 400;
const turnsAfter = 4;

const title = "A mistake, found, replayed and made small";
const question =
  "One comparison is missing in a script of the lock. No test of a single process notices, and in production it would show " +
  "once in a month, in a way that nobody can repeat. How is such a thing found?";
const checkTitle = "the properties of the lock hold in every run (L1 to L9, W1, F1, P1 to P4)";

interface Found {
  readonly seed: number;
  readonly outcome: SwarmOutcome;
  readonly small: SwarmOutcome;
  readonly shrinkRuns: number;
  readonly isSame: boolean;
}

/** What the seed decides, on a server that keeps its data. */
function durablePlan(seed: number): LockPlan {
  const plan = planOf(seed);
  const keeps = ({ kind, value }: LockPlan["faults"][number]): boolean =>
    !losing.includes(kind) && !(kind === "clock step" && value > longestStepMs);
  return { ...plan, faults: plan.faults.filter(keeps) };
}

async function run(seed: number, options: RunOptions = {}): Promise<Outcome> {
  const { naiveOnly = false, tell = () => {}, signal } = options;
  const { library, removed } = holdfastWithout(guard);
  const tried: number[] = [];
  let grants = 0;
  let found: Found | null = null;
  for (let next = seed * mostSeeds; tried.length < mostSeeds && !found; next++) {
    signal?.throwIfAborted();
    tried.push(next);
    const outcome = await runPlan(durablePlan(next), { holdfast: library });
    grants += outcome.progress;
    if (grants === 0 && tried.length === idleSeeds) break;
    if (outcome.failures.length === 0 || outcome.progress < fewestGrants) continue;
    tell(`seed ${next}: ${outcome.failures[0]?.property} is broken (played from seed ${tried[0]} on)`);
    const again = await runPlan(durablePlan(next), { holdfast: library });
    tell(`seed ${next} again: ${outcome.hash} and ${again.hash}`);
    const { outcome: small, runs: shrinkRuns } = await shrink(outcome, { holdfast: library });
    tell(`made small in ${counted(shrinkRuns, "run")}: ${sizeOf(outcome.plan)} → ${sizeOf(small.plan)}`);
    const isSame = again.hash === outcome.hash;
    found = { seed: next, outcome, small, shrinkRuns, isSame };
  }
  const line = removed() ?? "";
  if (line === "" && grants > 0) throw new Error(`no script has a line with the mark "-- guard: ${guard}"`);
  const trials = [naiveTrial(found, tried, grants, line)];
  if (!naiveOnly) trials.push(await withGuard(found, tried, line));
  const asExpected = trials.every((trial) => trial.asExpected);
  return {
    id: "D18",
    title,
    question,
    remark: "",
    seed,
    command: commandOf("D18", seed),
    trials,
    asExpected,
  };
}

function naiveTrial(
  found: Found | null,
  tried: readonly number[],
  grants: number,
  line: string,
): TrialOutcome {
  const common = {
    side: "naive",
    name: `holdfast without a guard: ${guardName}`,
    steps: [line, "→ this line is left out"],
  } as const;
  const seeds = tried.length;
  const drawn = found && failureOf(found.small);
  const others = (found?.small.failures ?? []).filter((failure) => failure !== drawn);
  const findings = [...(drawn ? [drawn] : []), ...others].map(({ property, message, atMs }) => ({
    message: `${property}: ${rounded(message)}`,
    atMs,
  }));
  const checks = [{ title: checkTitle, findings }];
  if (!found) {
    const unmet = unmetBy(grants, seeds);
    const nothing = `Nothing was found in ${counted(seeds, "seed")}.`;
    const sentence = unmet.length > 0 ? voidSentence(unmet) : nothing;
    const timeline: Timeline = { title: "", lanes: [] };
    const judgement = { checks, unmet, ...verdictOf("naive", checks, unmet) };
    return { ...common, ...judgement, sentence, figures: { seeds, grants }, timeline };
  }
  const { seed, outcome, small, shrinkRuns, isSame } = found;
  const sentence =
    `${triedText(tried)}, and ${seed} broke a property. Played again, it went ` +
    `${isSame ? "the same way to the byte" : "ANOTHER WAY"} (${outcome.hash}). With everything left out that it does not ` +
    `need, ${sizeOf(outcome.plan)} became ${sizeOf(small.plan)}, in ${counted(shrinkRuns, "run")}.${leftOf(small.plan)}`;
  const figures = {
    "seeds until found": seeds,
    faults: `${outcome.plan.faults.length} → ${small.plan.faults.length}`,
    processes: `${outcome.plan.processes.length} → ${small.plan.processes.length}`,
  };
  const timeline = drawingOf(small, lockOf(small), "The smallest run that fails");
  const unmet = isSame ? [] : ["runs that went the same way again: 0 of at least 1"];
  return { ...common, checks, unmet, ...verdictOf("naive", checks, unmet), sentence, figures, timeline };
}

function unmetBy(grants: number, runs: number): string[] {
  const least = runs * fewestGrants;
  return grants >= least ? [] : [`grants: ${grants} of at least ${least}`];
}

/** The same seeds, and the small run, with the library as it is. */
async function withGuard(found: Found | null, tried: readonly number[], line: string): Promise<TrialOutcome> {
  const plans: LockPlan[] = [...tried.map(durablePlan), ...(found ? [found.small.plan] : [])];
  const outcomes: SwarmOutcome[] = [];
  for (const plan of plans) outcomes.push(await runPlan(plan));
  const findings = outcomes.flatMap(({ plan, failures }) =>
    failures.map(({ property, message, atMs }) => ({
      message: `seed ${plan.seed}: ${property}: ${rounded(message)}`,
      atMs,
    })),
  );
  const grants = outcomes.reduce((sum, outcome) => sum + outcome.progress, 0);
  const checks = [{ title: checkTitle, findings }];
  const unmet = unmetBy(grants, plans.length);
  const { verdict, asExpected } = verdictOf("holdfast", checks, unmet);
  const last = outcomes.at(-1) as SwarmOutcome;
  const outcome = findings.length === 0 ? "no property was broken" : "something is broken";
  return {
    side: "holdfast",
    name: "with the guard, the same runs",
    steps: [line],
    ...{ verdict, asExpected, checks, unmet },
    sentence:
      verdict === "void"
        ? voidSentence(unmet)
        : `The same ${counted(plans.length, "run")} with the guard in its place: ${counted(grants, "grant")}, and ${outcome}.`,
    figures: { runs: plans.length, grants, "properties broken": findings.length },
    timeline: found
      ? calmDrawingOf(last, lockOf(found.small), "The same run with the guard")
      : { title: "", lanes: [] },
  };
}

/** What is drawn: of the failures that show in operations, the one that shows in the shortest time. */
function failureOf({ failures }: SwarmOutcome): Failure | undefined {
  const lasting = ({ atMs, operations }: Failure): number =>
    atMs - Math.min(...operations.map(({ invMs }) => invMs));
  return failures
    .filter(({ operations }) => operations.length > 0)
    .toSorted((a, b) => lasting(a) - lasting(b))[0];
}

/** The failure, the faults, and what the register refused. */
function drawingOf(outcome: SwarmOutcome, lock: string, title: string): Timeline {
  const { operations, deathsMs, plan } = outcome;
  const failure = failureOf(outcome);
  if (!failure) return { title, lanes: [] };
  const tokens = new Set(failure.operations.map(({ token }) => token));
  const shown = operations.filter(
    ({ process, key, token }) =>
      process === "nemesis" || ((key === lock || key === `${lock} register`) && tokens.has(token)),
  );
  const faultsMs = plan.faults.map(({ atMs }) => atMs);
  const begunMs = failure.operations.map(({ invMs }) => invMs);
  const span = { fromMs: Math.min(failure.atMs, ...faultsMs, ...begunMs) - 10, toMs: failure.atMs + afterMs };
  const violations = [violationOf(failure, lock)];
  return timelineOf(shown, { title, caption: castOf(failure, lock), span, deathsMs, violations });
}

/** What the same faults did to the library as it is: some turns before and after the first one. */
function calmDrawingOf({ operations, deathsMs, plan }: SwarmOutcome, lock: string, title: string): Timeline {
  const atMs = plan.faults[0]?.atMs ?? 0;
  const holds = operations.filter(({ f, key, type }) => f === "acquire" && key === lock && type === "ok");
  const after = holds.filter(({ invMs }) => invMs > atMs).slice(0, turnsAfter);
  const tokens = new Set(
    [...holds.filter(({ invMs }) => invMs <= atMs).slice(-1), ...after].map(({ token }) => token),
  );
  const shown = operations.filter(
    ({ process, key, token }) => process === "nemesis" || (key === lock && tokens.has(token)),
  );
  const span = { fromMs: atMs - beforeMs, toMs: (after.at(-1)?.retMs ?? atMs) + afterMs };
  return timelineOf(shown, { title, span, deathsMs });
}

function violationOf({ property, message, atMs, operations }: Failure, key: string): Breach {
  return { property, key, operations, message: rounded(message), atMs };
}

/** Who is who in the drawing. */
function castOf({ operations }: Failure, lock: string): string {
  const { process = "" } = operations[0] ?? {};
  const [, place, caller] = /^p(\d+)\.(\d+)$/.exec(process) ?? [];
  const who = place ? `${process} is process ${place}, caller ${caller}. ` : "";
  return `${who}"${lock}" is a lock, and "${lock} register" the storage that it guards, which asks for the token.`;
}

function triedText(tried: readonly number[]): string {
  const [first, last] = [tried[0], tried.at(-1)];
  return tried.length === 1 ? `Seed ${first} was played` : `The seeds ${first} to ${last} were played`;
}

function lockOf(outcome: SwarmOutcome): string {
  return failureOf(outcome)?.operations[0]?.key ?? outcome.plan.locks[0] ?? "";
}

/** The faults that the failure needs, when they can be told in a breath. */
function leftOf({ faults }: LockPlan): string {
  if (faults.length === 0 || faults.length > 3) return "";
  const told = faults.map(
    ({ kind, target, atMs }) => `${kind.replaceAll("-", " ")} (${target}, at ${seconds(atMs)})`,
  );
  return ` What it needs: ${told.join(", ")}.`;
}

function sizeOf({ faults, processes }: LockPlan): string {
  return `${counted(faults.length, "fault")} and ${counted(processes.length, "process", "processes")}`;
}

export const replay: Experiment = { id: "D18", title, question, run };
