/** SIGKILL to a web server and to a worker while the students wait. */
import type { RunningApplication } from "./context.js";

export interface Killed {
  readonly program: "web server" | "worker";
  readonly pid: number;
  /** Since the start. */
  readonly atMs: number;
}

/** Shares of the students who have a result when the processes die. */
const WEB_SERVER_SHARE = 0.2;
const WORKER_SHARE = 0.4;

export class Kills {
  readonly done: Killed[] = [];
  readonly #application: RunningApplication;
  readonly #students: number;

  constructor(application: RunningApplication, students: number) {
    this.#application = application;
    this.#students = students;
  }

  /** Kills each of them once, as soon as its share of the students has a result. */
  decided(students: number, sinceStartMs: number): void {
    const share = students / this.#students;
    if (share >= WEB_SERVER_SHARE)
      this.#kill("web server", sinceStartMs, () => this.#application.killWebServer());
    if (share >= WORKER_SHARE) this.#kill("worker", sinceStartMs, () => this.#application.killWorker());
  }

  #kill(program: Killed["program"], atMs: number, kill: () => number | null): void {
    if (this.done.some((killed) => killed.program === program)) return;
    const pid = kill();
    if (pid !== null) this.done.push({ program, pid, atMs: Math.round(atMs) });
  }
}
