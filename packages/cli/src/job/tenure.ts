/** A command that runs for as long as this process holds something, and is stopped when it holds it no more. */
import type { LeaseLostError } from "holdfast";
import { codeOfExit, EXIT, type Exit } from "../exit-codes.js";
import { note, noteEvent } from "../output/output.js";
import { startJob } from "./job.js";

/** A lease, or a leadership. */
export interface Tenure {
  /** Aborts with a LeaseLostError when it is lost. */
  readonly signal: AbortSignal;
  readonly valid: boolean;
}

export interface TenureJob {
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Between SIGTERM and SIGKILL when the tenure is lost. */
  readonly graceMs: number;
  /** The tenure, as people call it. */
  readonly title: string;
  /** The tenure, as its events name it; null: people read along. */
  readonly events: Readonly<Record<string, unknown>> | null;
}

export interface TenureEnd {
  /** The command's own. */
  readonly exit: Exit;
  /** 70 when the tenure was lost, 77 when the command could not be stopped then; null: it was held to the end. */
  readonly loss: typeof EXIT.lost | typeof EXIT.unstopped | null;
}

/** Resolves when the command has ended, and after a loss when every process of it has gone. @throws {Failure} it cannot be started */
export async function runDuring(tenure: Tenure, terms: TenureJob): Promise<TenureEnd> {
  const { command, env, graceMs, title, events } = terms;
  const tell = (event: string, words: string, more?: object): void =>
    events ? noteEvent({ event, ...events, ...more }) : note(words);
  // After a stop, the look at the clock ends the lease before the command runs on.
  const job = await startJob(command, env, graceMs, () => tenure.valid);
  const { signal } = tenure;
  let stopping: Promise<void> | null = null;
  let isStopped = true;
  const stop = (): void => {
    stopping = job.stop(() => {
      isStopped = false;
      tell(
        "unstopped",
        `the command works on without ${title}: holdfast cannot stop it; it may run as another user, as under sudo`,
      );
    });
    const { reason } = signal.reason as LeaseLostError;
    tell("lost", `${title} is over (${reason}): stopping the command`, { reason });
  };
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  const exit = await job.ended;
  const isLost = !tenure.valid;
  signal.removeEventListener("abort", stop);
  await stopping;
  job.dismiss();
  if (events) noteEvent({ event: "ended", ...events, lost: isLost, exitCode: codeOfExit(exit) });
  return { exit, loss: !isLost ? null : isStopped ? EXIT.lost : EXIT.unstopped };
}
