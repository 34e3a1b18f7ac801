/** A process of the real loads, as its parent sees it. */

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { launchModule } from "@holdfast/conformance";
import type { Order, Report } from "./task.js";

/** A child runs what is compiled, whoever started it. */
const program = fileURLToPath(new URL("../../../dist/capacity/real/program.js", import.meta.url));

export class MemberProcess {
  readonly #child: ChildProcess;
  #complaint = "";

  constructor() {
    this.#child = launchModule(program, [], { stdio: ["ignore", "ignore", "pipe", "ipc"] });
    this.#child.stderr?.on("data", (text) => {
      this.#complaint += text;
    });
  }

  /** One order at a time. @throws with what went wrong there */
  order(order: Order): Promise<Report> {
    return new Promise((resolve, reject) => {
      const ended = (): void => reject(new Error(`a process ended: ${this.#complaint.trim()}`));
      this.#child.once("close", ended);
      this.#child.once("message", (report: Report) => {
        this.#child.off("close", ended);
        if (report.error === null) resolve(report);
        else reject(new Error(report.error));
      });
      this.#child.send(order, () => {}); // a failure shows as its end
    });
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const closed = once(this.#child, "close");
    this.#child.kill("SIGKILL");
    await closed;
  }
}
