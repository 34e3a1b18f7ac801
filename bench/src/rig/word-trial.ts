/** One slice of words from one process to another, which waits for each of them. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TellReport } from "../child/messages.js";
import type { Figures } from "../figures.js";
import type { ContestantProcess } from "./contestant-process.js";
import { betweenMs, latencies } from "./hand-off-trial.js";
import type { RedisServer } from "./redis-server.js";

const AGAIN_MS = 5;
/** Names at the same time, mostly waiting. */
export const LANES = 4;
/** From the call of the wait to the word: time for a wait that has to subscribe first. */
export const PAUSE_MS = { least: 10, most: 30 };

export async function wordSlice(
  server: RedisServer,
  processes: readonly ContestantProcess[],
  ms: number,
): Promise<Figures> {
  const [teller, hearer] = processes;
  if (!teller || !hearer) throw new Error("a word needs two processes");
  const endsAt = performance.now() + ms;
  const { result: perLane, server: done } = await server.during(() =>
    Promise.all(Array.from({ length: LANES }, (_, lane) => tellOn(teller, hearer, lane, endsAt))),
  );
  const heard = perLane.flat();
  const tookMs = heard.filter((each) => each !== null);
  return {
    ...latencies(tookMs),
    words: heard.length,
    missed: heard.length - tookMs.length,
    commandsPerWord: done.commands / heard.length,
  };
}

/** How long each word took; null: it was missed. */
async function tellOn(
  teller: ContestantProcess,
  hearer: ContestantProcess,
  lane: number,
  endsAt: number,
): Promise<(number | null)[]> {
  const name = `bench:${teller.name}:word:${lane}`;
  const tookMs: (number | null)[] = [];
  do {
    const hearing = hearer.do<"hear">({ task: "hear", name });
    await sleep(PAUSE_MS.least + Math.random() * (PAUSE_MS.most - PAUSE_MS.least));
    const { toldAtNs, isHeard } = await tell(teller, name, hearing);
    const { heardAtNs } = await hearing;
    const took = heardAtNs === null ? null : betweenMs(toldAtNs, heardAtNs);
    // Of several that were told, an earlier one may have been heard after all.
    if (took === null ? isHeard : took >= 0) tookMs.push(took);
  } while (performance.now() < endsAt);
  return tookMs;
}

/** Until somebody hears it: on a busy machine the wait has not begun at first. */
async function tell(teller: ContestantProcess, name: string, hearing: Promise<unknown>): Promise<TellReport> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  hearing.then(over, over);
  for (;;) {
    const report = await teller.do<"tell">({ task: "tell", name });
    if (!report.isHeard && !isOver) await sleep(AGAIN_MS);
    if (report.isHeard || isOver) return report;
  }
}
