/** The process of the students, as the first process sees it. */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { CrowdSetup, FromCrowd, ToCrowd } from "./messages.js";

export interface CrowdWatcher {
  onSignedIn(students: number): void;
  onDecided(students: number, sinceStartMs: number): void;
}

type HeardAll = Extract<FromCrowd, { type: "heard" }>;

export class CrowdProcess {
  readonly #child: ChildProcess;
  readonly #setup: CrowdSetup;
  /** Rejects when the process ends or fails, or when the signal aborts. */
  readonly #broken: Promise<never>;

  constructor(setup: CrowdSetup, watcher: CrowdWatcher, signal: AbortSignal) {
    this.#setup = setup;

    this.#child = fork(fileURLToPath(new URL("./crowd-program.js", import.meta.url)));
    this.#broken = new Promise((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      this.#child.once("exit", () => reject(new Error("the process of the students has ended")));
      this.#child.on("message", (message: FromCrowd) => {
        if (message.type === "failed") reject(new Error(message.message));
        if (message.type === "signed in") watcher.onSignedIn(message.students);
        if (message.type === "decided") watcher.onDecided(message.students, message.sinceStartMs);
      });
    });
    this.#broken.catch(() => {}); // Between two orders nobody waits for it.
  }

  async signIn(): Promise<void> {
    const all = this.#heard(
      (message) => message.type === "signed in" && message.students === this.#setup.accounts.length,
    );
    this.#order({ type: "sign in", setup: this.#setup });
    await all;
  }

  /** @param startsAtMs by the clock of the machine */
  async choose(startsAtMs: number): Promise<HeardAll> {
    const all = this.#heard((message) => message.type === "heard");
    this.#order({ type: "choose", startsAtMs });
    return (await all) as HeardAll;
  }

  stop(): void {
    this.#child.kill("SIGKILL");
  }

  #order(message: ToCrowd): void {
    this.#child.send(message);
  }

  #heard(isIt: (message: FromCrowd) => boolean): Promise<FromCrowd> {
    const message = new Promise<FromCrowd>((resolve) => {
      const listen = (one: FromCrowd): void => {
        if (!isIt(one)) return;
        this.#child.off("message", listen);
        resolve(one);
      };
      this.#child.on("message", listen);
    });
    return Promise.race([message, this.#broken]);
  }
}
