/** A contestant in a process of its own, alive for a whole question, idle while others are measured. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Answer, Ready, Tasks } from "../child/messages.js";
import type { ContestantName } from "../contestants/contestant.js";

const PROGRAM = fileURLToPath(new URL("../child/program.js", import.meta.url));
const ERROR_LINES = 12;

/** A contestant's process could not start, ended, or failed in a task. */
class ContestantFailed extends Error {}

export class ContestantProcess {
  readonly name: ContestantName;
  readonly #child: ChildProcess;
  readonly #open = new Map<number, PromiseWithResolvers>();
  #errors = "";
  /** Why no more can be asked of it. */
  #end: ContestantFailed | null = null;
  #next = 0;

  private constructor(name: ContestantName, ports: readonly number[]) {
    this.name = name;
    this.#child = fork(PROGRAM, [name, ports.join(",")], {
      execArgv: ["--expose-gc"],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#child.stderr?.on("data", (chunk) => {
      this.#errors = (this.#errors + chunk).split("\n").slice(-ERROR_LINES).join("\n");
    });
    this.#child.on("message", (message: Answer | Ready) => this.#heard(message));
    this.#child.once("close", (code, signal) => {
      this.#end = new ContestantFailed(`its process ended with ${signal ?? code}\n${this.#errors.trim()}`);
      for (const { reject } of this.#open.values()) reject(this.#end);
      this.#open.clear();
    });
  }

  /** @param ports of several servers: it is opened as a lock over all of them */
  static async start(name: ContestantName, ...ports: readonly number[]): Promise<ContestantProcess> {
    const made = new ContestantProcess(name, ports);
    await made.#promise(-1);
    return made;
  }

  /** @throws {ContestantFailed} */
  do<Kind extends keyof Tasks>(task: Tasks[Kind]["in"]): Promise<Tasks[Kind]["out"]> {
    const id = this.#next;
    this.#next += 1;
    const answered = this.#promise(id);
    if (this.#end) this.#open.get(id)?.reject(this.#end);
    else this.#child.send({ id, body: task }, () => {});
    return answered as Promise<Tasks[Kind]["out"]>;
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const closed = once(this.#child, "close");
    this.#child.kill("SIGKILL");
    await closed;
  }

  #promise(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => this.#open.set(id, { resolve, reject }));
  }

  #heard(message: Answer | Ready): void {
    const id = "ready" in message ? -1 : message.id;
    const waiting = this.#open.get(id);
    this.#open.delete(id);
    if ("error" in message) waiting?.reject(new ContestantFailed(message.error));
    else waiting?.resolve("result" in message ? message.result : undefined);
  }
}

interface PromiseWithResolvers {
  resolve(value: unknown): void;
  reject(error: Error): void;
}
