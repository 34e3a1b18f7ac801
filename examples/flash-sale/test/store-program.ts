/** The example as a user runs it: the compiled program in a process of its own. */

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { killLaunched, launch, processList } from "@holdfast/conformance";
import { onTestFinished } from "vitest";

const MAIN = fileURLToPath(new URL("../dist/main.js", import.meta.url));
/** For the last process of a group to vanish from the process table. */
const GONE_MS = 30_000;

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class Program {
  readonly child: ChildProcess;
  readonly #ended: Promise<Ended>;
  #stdout = "";
  #stderr = "";

  constructor(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
    // A process group of its own, so that whatever it leaves behind can be found, and a signal reaches all of it as
    // Ctrl-C does on a terminal.
    this.child = launch(process.execPath, [MAIN, ...args], {
      cwd: tmpdir(),
      detached: true,
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child.stdout?.on("data", (chunk) => {
      this.#stdout += chunk;
    });
    this.child.stderr?.on("data", (chunk) => {
      this.#stderr += chunk;
    });
    this.#ended = once(this.child, "close").then(([exitCode]) => {
      return { exitCode, stdout: this.#stdout, stderr: this.#stderr };
    });
    onTestFinished(() => killLaunched(this.child));
  }

  ended(): Promise<Ended> {
    return this.#ended;
  }

  /** Waits until the program has printed this. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.#stdout);
      if (match) return match;
      if (this.child.exitCode !== null)
        throw new Error(`ended before it printed ${pattern}: ${this.#stderr}`);
      await sleep(20);
    }
  }

  /** As Ctrl-C does: to the program and everything that it started. */
  signalAll(signal: NodeJS.Signals): void {
    process.kill(-(this.child.pid ?? 0), signal);
  }

  /** The command lines of the processes of the group that still run. */
  members(): string[] {
    return processList()
      .filter(({ group }) => group === this.child.pid)
      .map(({ command }) => command);
  }

  /** What is left of the group once it had time to go. */
  async leftBehind(): Promise<string[]> {
    const deadline = performance.now() + GONE_MS;
    while (this.members().length > 0 && performance.now() < deadline) await sleep(50);
    return this.members();
  }
}

export function run(args: readonly string[], environment?: NodeJS.ProcessEnv): Promise<Ended> {
  return new Program(args, environment).ended();
}

/** A folder that goes with the test. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "flash-sale-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
