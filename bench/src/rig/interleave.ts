/**
 * Rounds: in each, every contestant has one slice, and a different one begins, so that whatever else the machine does
 * burdens all alike.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { ContestantName } from "../contestants/contestant.js";
import { entryOf } from "../contestants/roster.js";
import { type FigureName, type Figures, figures } from "../figures.js";
import type { CaseResult, ContestantResult } from "../result.js";
import { median, pairedRatios, sum } from "./statistics.js";

export interface Watcher {
  /** One line about what happens now. */
  now(line: string): void;
}

export interface CasePlan {
  readonly id: string;
  readonly title: string;
  readonly primary: FigureName;
  readonly better: "more" | "less";
  readonly columns: readonly FigureName[];
  readonly floor: ContestantName | null;
}

const SLICE_TIMEOUT_MS = 120_000;

interface Track {
  readonly name: ContestantName;
  readonly rounds: Figures[];
  failed: string | null;
}

export interface Interleaving extends Rounds {
  readonly plan: CasePlan;
}

interface Rounds {
  readonly contestants: readonly ContestantName[];
  readonly rounds: number;
  readonly watcher: Watcher;
  /** One slice before the first round, thrown away. @default true */
  readonly warmUp?: boolean;
  slice(name: ContestantName): Promise<Figures>;
}

export async function interleave(run: Interleaving): Promise<CaseResult> {
  const tracks = await tracksOf(run, run.plan.title);
  return caseOf(run.plan, tracks);
}

/** Several cases from the same slices: each looks at other figures of them. */
export async function interleaveAll(
  run: Rounds & { readonly title: string; readonly plans: readonly CasePlan[] },
): Promise<CaseResult[]> {
  const tracks = await tracksOf(run, run.title);
  return run.plans.map((plan) => caseOf(plan, tracks));
}

async function tracksOf(run: Rounds, title: string): Promise<Track[]> {
  const tracks: Track[] = run.contestants.map((name) => ({ name, rounds: [], failed: null }));
  for (let round = run.warmUp === false ? 0 : -1; round < run.rounds; round += 1) {
    for (let place = 0; place < tracks.length; place += 1) {
      const track = tracks[(place + Math.max(0, round)) % tracks.length] as Track;
      if (track.failed !== null) continue;
      const when = round < 0 ? "warm-up" : `round ${round + 1} of ${run.rounds}`;
      run.watcher.now(`${title}, ${when}: ${entryOf(track.name).title}`);
      try {
        const figuresOfSlice = await within(SLICE_TIMEOUT_MS, run.slice(track.name));
        if (round >= 0) track.rounds.push(figuresOfSlice);
      } catch (error) {
        track.failed = error instanceof Error ? error.message : String(error);
      }
    }
  }
  return tracks;
}

/** A contestant that hangs, as when the holder of a baton has ended, must not keep the others from their turn. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = new AbortController();
  const limit = sleep(ms, null, { signal: late.signal, ref: false }).then(() => {
    throw new Error(`did not end within ${ms / 1_000} s`);
  });
  limit.catch(() => {});
  try {
    return await Promise.race([work, limit]);
  } finally {
    late.abort();
  }
}

/** From the rounds to what is said about them. */
function caseOf(plan: CasePlan, tracks: readonly Track[]): CaseResult {
  const ratesOf = (name: ContestantName | null) =>
    tracks.find((track) => track.name === name)?.rounds.map((round) => round[plan.primary] ?? Number.NaN);
  const bestPeer = bestOf(plan, tracks);
  const contestants = tracks.map((track): ContestantResult => {
    const { title, kind } = entryOf(track.name);
    const own = track.rounds.map((round) => round[plan.primary] ?? Number.NaN);
    return {
      name: track.name,
      title,
      kind,
      rounds: track.rounds,
      figures: combined(track.rounds),
      least: own.length > 0 ? Math.min(...own) : null,
      most: own.length > 0 ? Math.max(...own) : null,
      byFloor: ratio(own, ratesOf(plan.floor)),
      byBestPeer: ratio(own, ratesOf(bestPeer)),
      failed: track.failed,
    };
  });
  return { ...plan, contestants };
}

function bestOf(plan: CasePlan, tracks: readonly Track[]): ContestantName | null {
  const peers = tracks
    .filter(({ name, rounds }) => entryOf(name).kind === "peer" && rounds.length > 0)
    .map(({ name, rounds }) => ({ name, value: combined(rounds)[plan.primary] ?? Number.NaN }))
    .sort((a, b) => (plan.better === "more" ? b.value - a.value : a.value - b.value));
  return peers[0]?.name ?? null;
}

/** The median of the ratios. */
function ratio(own: readonly number[], other: readonly number[] | undefined): number | null {
  const ratios = pairedRatios(own, other ?? []);
  return ratios.length > 0 ? median(ratios) : null;
}

function combined(rounds: readonly Figures[]): Figures {
  const names = Object.keys(rounds[0] ?? {}) as FigureName[];
  return Object.fromEntries(
    names.map((name) => {
      const values = rounds.flatMap((round) => round[name] ?? []);
      const { of } = figures[name];
      return [name, of === "sum" ? sum(values) : of === "max" ? Math.max(...values) : median(values)];
    }),
  );
}
