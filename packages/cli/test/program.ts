/** The command as a user runs it: the compiled program in a process of its own. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { delimiter } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { killLaunched, launch, processList } from "@holdfast/conformance";
import { inject, onTestFinished } from "vitest";
import { type Ended, Printed } from "./printed.js";

const failure = inject("bundleFailure");
if (failure !== "") throw new Error(`there is no command to try: ${failure}`);

export const MAIN = fileURLToPath(new URL("../dist/main.js", import.meta.url));

/** What of the tester's own shell must not reach the program. */
export const CLEAN = {
  HOLDFAST_REDIS: undefined,
  HOLDFAST_PREFIX: undefined,
  NO_COLOR: undefined,
  FORCE_COLOR: undefined,
};

/** Commands for a machine that has a shell and no other program: the last folder on the PATH. */
const TOOLS = fileURLToPath(new URL("tools", import.meta.url));

export class Program extends Printed {
  readonly child: ChildProcess;
  readonly #ended: Promise<Ended>;

  /** In a session of its own, so that it has no terminal, whoever runs the tests. */
  constructor(
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
    command: readonly string[] = [MAIN],
    program = process.execPath,
  ) {
    const child = launch(program, [...command, ...args], {
      cwd: tmpdir(),
      detached: true,
      env: {
        ...process.env,
        PATH: `${process.env["PATH"]}${delimiter}${TOOLS}`,
        ...CLEAN,
        ...env,
      },
    });
    super({ stdout: child.stdout as Readable, stderr: child.stderr as Readable });
    this.child = child;
    this.#ended = once(child, "close").then(([exitCode, signal]) => {
      return { exitCode, signal, stdout: this.stdout, stderr: this.stderr };
    });
    onTestFinished(() => this.kill());
  }

  ended(): Promise<Ended> {
    return this.#ended;
  }

  kill(signal?: NodeJS.Signals): void {
    if (signal) this.child.kill(signal);
    else killLaunched(this.child);
  }
}

export function run(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Ended> {
  return new Program(args, env).ended();
}

/** Whether a process runs: a zombie does not. */
export function isAlive(pid: number): boolean {
  return processList().some((entry) => entry.pid === pid);
}
