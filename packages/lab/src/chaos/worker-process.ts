/** WorkerProcess: a worker as its parent sees it: started, stopped, killed, and asked. */

import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { launch } from "@holdfast/conformance";
import type { ShimmedClock } from "./clock-shim.js";
import { monoMs, settledIn } from "./time.js";
import { AGAINST, type Answer, type Verb, type WorkerTask } from "./worker/task.js";

/** A child runs what is compiled, whoever started it. */
const program = fileURLToPath(new URL("../../dist/chaos/worker/program.js", import.meta.url));
const otherLibrary = new URL("../../dist/chaos/worker/other-library.js", import.meta.url).href;

export interface WorkerTerms {
  readonly task: WorkerTask;
  /** Words before the program: into a network namespace. */
  readonly by: readonly string[];
  readonly clock: ShimmedClock | null;
  /** The folder of another clone, whose library it runs; null: that of this one. */
  readonly against: string | null;
}

type Settle = { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void };

export class WorkerProcess {
  readonly task: WorkerTask;
  readonly #child: ChildProcess;
  readonly #open = new Map<number, Settle>();
  readonly #exited: Promise<void>;
  #orders = 0;
  #diedMs: number | null = null;
  #exit = "";

  constructor({ task, by, clock, against }: WorkerTerms) {
    this.task = task;
    const flags = against === null ? [] : ["--import", otherLibrary];
    const [first = "", ...rest] = [...by, process.execPath, ...flags, program, JSON.stringify(task)];
    this.#child = launch(first, rest, {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      env: { ...process.env, ...clock?.env, ...(against === null ? {} : { [AGAINST]: against }) },
    });
    this.#child.on("message", (answer: Answer) => this.#hear(answer));
    this.#exited = new Promise((resolve) => {
      this.#child.once("exit", (code, signal) => {
        this.#diedMs = monoMs();
        this.#exit = signal ?? `code ${code}`;
        for (const { reject } of this.#open.values())
          reject(new Error(`${task.name} is gone (${this.#exit})`));
        resolve();
      });
    });
    this.#child.on("error", () => {}); // "exit" follows, or the first order fails
  }

  get name(): string {
    return this.task.name;
  }

  /** When it was gone; null while it lives. */
  get diedMs(): number | null {
    return this.#diedMs;
  }

  get exit(): string {
    return this.#exit;
  }

  freeze(): void {
    this.#child.kill("SIGSTOP");
  }

  thaw(): void {
    this.#child.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  /** Rejects with what went wrong there, or when there is no answer in time. */
  async ask(verb: Verb, timeoutMs: number, terms: object = {}): Promise<unknown> {
    if (this.#diedMs !== null) throw new Error(`${this.name} is gone (${this.#exit})`);
    const order = ++this.#orders;
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#open.set(order, { resolve, reject });
      this.#child.send({ order, verb, ...terms }, (error) => error && reject(error));
    });
    const settled = await settledIn(answer, timeoutMs);
    if (settled === "late") throw new Error(`${this.name}: ${verb} not within ${timeoutMs} ms`);
    return settled.value;
  }

  /** Whether it ends by itself. */
  async ends(timeoutMs: number): Promise<boolean> {
    return (await settledIn(this.#exited, timeoutMs)) !== "late";
  }

  #hear({ order, value, error }: Answer): void {
    const caller = this.#open.get(order);
    this.#open.delete(order);
    if (error === undefined) caller?.resolve(value);
    else caller?.reject(new Error(error));
  }
}
