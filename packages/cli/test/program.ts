/** The command as a user runs it: the compiled program in a process of its own. */

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { killLaunched, launch, processList } from "@holdfast/conformance";
import { inject, onTestFinished } from "vitest";

const failure = inject("bundleFailure");
if (failure !== "") throw new Error(`there is no command to try: ${failure}`);

export const MAIN = fileURLToPath(new URL("../dist/main.js", import.meta.url));

export interface Ended {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What of the tester's own shell must not reach the program. */
export const CLEAN = {
  HOLDFAST_REDIS: undefined,
  HOLDFAST_PREFIX: undefined,
  NO_COLOR: undefined,
  FORCE_COLOR: undefined,
};

/** Commands for a machine that has a shell and no other program: the last folder on the PATH. */
const TOOLS = fileURLToPath(new URL("tools", import.meta.url));

export class Program {
  readonly child: ChildProcess;
  readonly #ended: Promise<Ended>;
  stdout = "";
  stderr = "";

  /** In a session of its own, so that it has no terminal, whoever runs the tests. */
  constructor(
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
    command: readonly string[] = [MAIN],
    program = process.execPath,
  ) {
    this.child = launch(program, [...command, ...args], {
      cwd: tmpdir(),
      detached: true,
      env: {
        ...process.env,
        PATH: `${process.env["PATH"]}${delimiter}${TOOLS}`,
        ...CLEAN,
        ...env,
      },
    });
    this.child.stdout?.on("data", (chunk) => {
      this.stdout += chunk;
    });
    this.child.stderr?.on("data", (chunk) => {
      this.stderr += chunk;
    });
    this.#ended = once(this.child, "close").then(([exitCode, signal]) => {
      return { exitCode, signal, stdout: this.stdout, stderr: this.stderr };
    });
    onTestFinished(() => this.kill());
  }

  ended(): Promise<Ended> {
    return this.#ended;
  }

  kill(): void {
    killLaunched(this.child);
  }

  /** Waits until the program has printed this. */
  printed(pattern: RegExp, where: "stdout" | "stderr" = "stdout"): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const stream = this.child[where];
      const look = (): void => {
        const match = pattern.exec(this[where]);
        if (match) resolve(match);
      };
      stream?.on("data", look);
      this.child.once("close", () =>
        reject(new Error(`ended without ${pattern}: ${this.stdout}${this.stderr}`)),
      );
      look();
    });
  }

  /** The lines of stderr, each a JSON document. */
  events(): Record<string, unknown>[] {
    return jsonLines(this.stderr);
  }
}

export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

export function run(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Ended> {
  return new Program(args, env).ended();
}

/** Whether a process runs: a zombie does not. */
export function isAlive(pid: number): boolean {
  return processList().some((entry) => entry.pid === pid);
}
