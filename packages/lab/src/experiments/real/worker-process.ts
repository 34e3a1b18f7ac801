/** A worker of D1 with real processes, as its parent sees it. */

import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { launch } from "@holdfast/conformance";
import type { WorkerEvent, WorkerTask } from "./task.js";

/** A child runs what is compiled, whoever started it. */
const program = fileURLToPath(new URL("../../../dist/experiments/real/worker.js", import.meta.url));

export class WorkerProcess {
  readonly task: WorkerTask;
  readonly events: WorkerEvent[] = [];
  /** Resolves when it has ended in order. */
  readonly done: Promise<void>;
  readonly #child: ChildProcess;
  #complaint = "";

  constructor(task: WorkerTask, onEvent: (event: WorkerEvent) => void = () => {}) {
    this.task = task;
    this.#child = launch(process.execPath, [program, JSON.stringify(task)], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    createInterface({ input: this.#child.stdout! }).on("line", (line) => {
      const event: WorkerEvent = JSON.parse(line);
      this.events.push(event);
      onEvent(event);
    });
    this.#child.stderr?.on("data", (text) => {
      this.#complaint += text;
    });
    this.done = new Promise((resolve, reject) => {
      this.#child.once("error", reject);
      this.#child.once("close", (code, signal) => {
        if (code === 0) resolve();
        else reject(new Error(`${task.name} ended with ${signal ?? code}: ${this.#complaint}`));
      });
    });
    this.done.catch(() => {}); // of two that are ended, the first is enough to know
  }

  goOn(): void {
    this.#child.kill("SIGCONT");
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}
