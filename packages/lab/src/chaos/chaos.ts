/** Chaos: rounds, one after the other, until the time is up or a rule was broken. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Dice } from "../chance/dice.js";
import { ClockShim } from "./clock-shim.js";
import { keepEvidence } from "./evidence.js";
import { judge } from "./judge.js";
import { mayBite } from "./nemeses/roster.js";
import { playRound, type RoundTerms } from "./round.js";
import { Tally } from "./tally.js";
import { monoMs, settledIn } from "./time.js";
import { workloads as known } from "./workloads/list.js";

export interface ChaosOptions {
  readonly seed: number;
  readonly lengthMs: number;
  /** Each round gets one of them. */
  readonly servers: readonly RoundTerms["server"][];
  /** For the server without faults. */
  readonly vaultProgram: string;
  /** Kinds of faults; empty for all. */
  readonly only?: readonly string[];
  /** Workloads beside the mutex, of which each round has a few. @default all */
  readonly workloads?: readonly string[];
  /** Of chaos, in each round. @default 15000 */
  readonly chaosMs?: number;
  /** The folder of another clone, which is built: every second worker runs its library. @default none */
  readonly against?: string | null;
  /** After each round. */
  readonly onRound?: (tally: Tally, at: Progress) => void;
}

export interface Progress {
  readonly seed: number;
  readonly server: string;
  readonly spentMs: number;
}

export interface Outcome {
  readonly tally: Tally;
  /** Of the first round that broke a rule: its seed, and the folder with its history. */
  readonly broken: { readonly seed: number; readonly server: string; readonly folder: string } | null;
}

const CHAOS_MS = 15_000;
/** All limits of a round together, and more: beyond it, the chaos itself has a fault. */
const PEACE_TIMEOUT_MS = 150_000;

export const workloadNames: readonly string[] = known.map(({ name }) => name);

/** The first round plays the seed itself, so that a round is repeated by its own seed. */
export async function runChaos(options: ChaosOptions): Promise<Outcome> {
  const { seed, lengthMs, servers, vaultProgram, only = [], chaosMs = CHAOS_MS } = options;
  const workloads = options.workloads ?? workloadNames;
  const workshop = mkdtempSync(join(tmpdir(), "holdfast-shim-"));
  const shim = ClockShim.compile(workshop);
  const dice = new Dice(seed);
  const tally = new Tally({ mayBite: mayBite(only) });
  const startMs = monoMs();
  try {
    for (let roundSeed = seed; ; roundSeed = dice.seed()) {
      const server = servers[tally.rounds % servers.length] ?? "embedded";
      const title = server === "embedded" ? "embedded" : server.title;
      const folder = mkdtempSync(join(tmpdir(), "holdfast-chaos-"));
      const played = playRound({
        seed: roundSeed,
        chaosMs,
        server,
        vaultProgram,
        only,
        folder,
        shim,
        workloads,
        against: options.against ?? null,
      });
      const settled = await settledIn(played, chaosMs + PEACE_TIMEOUT_MS);
      if (settled === "late") throw new Error(`the round with seed ${roundSeed} does not end: see ${folder}`);
      const round = settled.value;
      const verdict = judge(round);
      tally.add(round, verdict);
      const spentMs = monoMs() - startMs;
      options.onRound?.(tally, { seed: roundSeed, server: title, spentMs });
      if (verdict.violations.length > 0) {
        keepEvidence(folder, round, verdict);
        return { tally, broken: { seed: roundSeed, server: title, folder } };
      }
      rmSync(folder, { recursive: true, force: true });
      if (spentMs >= lengthMs) return { tally, broken: null };
    }
  } finally {
    rmSync(workshop, { recursive: true, force: true });
  }
}
