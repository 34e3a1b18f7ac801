/** Whether holdfast is slower than before: what `--against` asks of every case. */
import { beforeOf, isBefore } from "../contestants/before.js";
import type { FigureName, Figures } from "../figures.js";
import type { CaseResult, ContestantResult, QuestionResult, Target } from "../result.js";
import { median, pairedRatios } from "../rig/statistics.js";

/** The median of the paired ratios: this much of the rate, or this much of the CPU time of client and server. */
const LEAST_RATE = 0.97;
const MOST_CPU = 1.03;

/** The same answer, judged against the library of the other clone alone. */
export function judgedAgainst(question: QuestionResult): QuestionResult {
  return { ...question, targets: question.cases.flatMap((each) => targetsOf(question.id, each)) };
}

function targetsOf(id: string, result: CaseResult): Target[] {
  return result.contestants
    .filter(({ name }) => !isBefore(name))
    .map((now) => {
      const before = result.contestants.find(({ name }) => name === beforeOf(now.name));
      const text = `${id} ${result.id}, ${now.title}: at least ${LEAST_RATE} of before, or at most ${MOST_CPU} of its CPU`;
      return { text, ...judged(result, now, before) };
    });
}

function judged(
  { primary, better, columns }: CaseResult,
  now: ContestantResult,
  before: ContestantResult | undefined,
): Omit<Target, "text"> {
  const paired = (of: (round: Figures) => number | undefined): number[] =>
    pairedRatios(now.rounds.map(of), before?.rounds.map(of) ?? []);
  const rates = paired((round) => round[primary]);
  const ratios = better === "more" ? rates : rates.map((ratio) => 1 / ratio);
  const costs = columns.filter((name) => /CpuMsPer10k$|CpuPercent$/i.test(name));
  const cpu = paired((round) => sumOf(round, costs));
  if (ratios.length === 0 || now.failed !== null || before?.failed !== null)
    return { found: "not measured", reached: null };
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2));
  const [rate, cost] = [median(ratios), cpu.length > 0 ? median(cpu) : null];
  const rounds = `${ratios.length} ${ratios.length === 1 ? "round" : "rounds"}`;
  return {
    found: `median ${rate.toFixed(3)} (${least} to ${most}, ${rounds})${cost === null ? "" : `, of CPU ${cost.toFixed(3)}`}`,
    reached: rate >= LEAST_RATE || (cost !== null && cost <= MOST_CPU),
  };
}

function sumOf(round: Figures, names: readonly FigureName[]): number {
  return names.reduce((sum, name) => sum + (round[name] ?? 0), 0);
}
