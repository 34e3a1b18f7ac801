/** Processes that push and consume, of which some are killed while they do. */

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { launchModule } from "@holdfast/conformance";
import { History } from "../../src/history/history.js";
import type { Operation } from "../../src/history/operation.js";

export interface Task {
  readonly url: string;
  readonly deadlineMs: number;
  /** The first of the numbers that it pushes, and how many. */
  readonly from: number;
  readonly count: number;
  /** So many in one call. */
  readonly batch: number;
  /** And so long between two of them. */
  readonly paceMs: number;
  /** 0: it consumes nothing. */
  readonly concurrency: number;
  readonly failShare: number;
}

export interface Member {
  readonly name: string;
  readonly task: Task;
  readonly process: ChildProcess;
  /** It has pushed all that it was to push. */
  readonly produced: Promise<void>;
}

export class Crew {
  readonly #folder = mkdtempSync(join(tmpdir(), "holdfast-queues-"));
  readonly #members = new Set<Member>();
  #started = 0;

  /** Resolves when it has begun to work. */
  async start(task: Task): Promise<Member> {
    this.#started += 1;
    const name = `w${this.#started}`;
    const journal = join(this.#folder, `${name}.ndjson`);
    const process = launchModule(
      resolve(import.meta.dirname, "worker.mjs"),
      [JSON.stringify({ ...task, name, journal })],
      {
        execArgv: [],
      },
    );
    await once(process, "message");
    process.send("go");
    const produced = once(process, "message").then(() => {});
    const member = { name, task, process, produced };
    this.#members.add(member);
    return member;
  }

  /** SIGKILL; resolves when the process is gone. */
  async kill(member: Member): Promise<void> {
    this.#members.delete(member);
    const gone = once(member.process, "exit");
    member.process.kill("SIGKILL");
    await gone;
  }

  /** Lets all of them finish. @throws {Error} one of them ended with an error */
  async stop(): Promise<void> {
    const ends = [...this.#members].map(async ({ name, process }) => {
      const gone = once(process, "exit");
      process.send("stop");
      const [code] = await gone;
      if (code !== 0) throw new Error(`${name} ended with code ${code}`);
    });
    this.#members.clear();
    await Promise.all(ends);
  }

  /** What all of them wrote down, also those that were killed. */
  operations(): readonly Operation[] {
    const files = readdirSync(this.#folder).map((file) => readFileSync(join(this.#folder, file), "utf8"));
    return History.merge(files).operations;
  }

  remove(): void {
    for (const { process } of this.#members) process.kill("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
