/** A command that runs for as long as this process holds something, and is stopped when it holds it no more. */
import type { LeaseLostError } from "holdfast";
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
  /** Called when it is lost, before the command is stopped. */
  readonly onLost: (loss: LeaseLostError) => void;
}

/** Resolves when the command has ended, and after a loss when every process of it has gone. @throws {Failure} it cannot be started */
export async function runDuring(
  tenure: Tenure,
  { command, env, graceMs, onLost }: TenureJob,
): Promise<{ readonly exitCode: number; readonly lost: boolean }> {
  // After a stop, the look at the clock ends the lease before the command runs on.
  const job = await startJob(command, env, graceMs, () => tenure.valid);
  const { signal } = tenure;
  let stopping: Promise<void> | null = null;
  const stop = (): void => {
    onLost(signal.reason as LeaseLostError);
    stopping = job.stop();
  };
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  const exitCode = await job.ended;
  const lost = !tenure.valid;
  signal.removeEventListener("abort", stop);
  await stopping;
  job.dismiss();
  return { exitCode, lost };
}
