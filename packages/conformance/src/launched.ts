/**
 * Programs that a test or a load starts. None outlives the process that started it, however that ends: at its exit they are killed,
 * and when it is killed itself, by whoever runs the tests (scripts/run/keeper.mjs), to whom each is known by a file.
 */
import { type ChildProcess, type ForkOptions, fork, type SpawnOptions, spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { atExit } from "./leftovers.js";

/** The folder of this run of the tests; nothing where somebody runs one suite by hand. */
const runFolder = process.env["HOLDFAST_RUN"];
/** Those that run and lead a process group: all of it ends with them. */
const leaders = new Set<ChildProcess>();

/** As spawn() of Node.js. With `detached`, whatever it starts in its group ends with it. */
export function launch(program: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
  return kept(spawn(program, args, options), options.detached === true);
}

/** As fork() of Node.js. */
export function launchModule(
  module: string | URL,
  args: readonly string[],
  options: ForkOptions = {},
): ChildProcess {
  return kept(fork(module, args, options), options.detached === true);
}

/** SIGKILL, to all of its group where it leads one. */
export function killLaunched(child: ChildProcess): void {
  if (!leaders.has(child)) {
    child.kill("SIGKILL");
    return;
  }
  signalGroup(child, "SIGKILL");
}

function kept(child: ChildProcess, detached: boolean): ChildProcess {
  const leads = detached && process.platform !== "win32";
  // Without an id it was never started.
  if (child.pid === undefined) return child;
  if (leads) leaders.add(child);
  const file = runFolder && join(runFolder, `${leads ? "group" : "process"}-${child.pid}`);
  if (file) writeFileSync(file, "");
  const forget = atExit(() => killLaunched(child));
  child.once("exit", () => {
    // Of a group, others may be left.
    if (leads && signalGroup(child, 0)) return;
    forget();
    leaders.delete(child);
    if (file) rmSync(file, { force: true });
  });
  return child;
}

/** Whether there was anybody to hear it. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-(pid as number), signal);
    return true;
  } catch {
    return false;
  }
}
