/**
 * A run of the tests: a temporary folder of its own, and an end that nothing outlives: no program, no file, whether the run
 * passes, fails, is stopped with Ctrl-C or is killed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");
const keeper = join(import.meta.dirname, "keeper.mjs");
const interrupted = 130;
/** A group of its own hears only what it is sent. */
const detached = process.platform !== "win32";

interface Steps {
  readonly env: NodeJS.ProcessEnv;
  /** The longest time without the end of a test; undefined for a program that tells of none. */
  readonly limitS?: number | undefined;
}

export class Run {
  readonly #folder: string;
  readonly #keeper: ChildProcess;

  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), "holdfast-run-"));
    // Databases run as users of their own, and make files here.
    chmodSync(this.#folder, 0o1777);
    mkdirSync(join(this.#folder, "run"));
    this.#keeper = spawn(process.execPath, [keeper, this.#folder], {
      detached,
      stdio: ["pipe", "ignore", "inherit"],
    });
  }

  /** Runs node with these arguments to its end. @returns its exit code */
  program(args: readonly string[], { env, limitS }: Steps): Promise<number> {
    const places = { TMPDIR: this.#folder, TEMP: this.#folder, TMP: this.#folder };
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...env, ...places, HOLDFAST_RUN: join(this.#folder, "run") },
      detached,
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    const file = join(this.#folder, "run", `${detached ? "group" : "process"}-${child.pid}`);
    writeFileSync(file, "");
    const signal = (name: NodeJS.Signals) => {
      try {
        if (detached && child.pid) process.kill(-child.pid, name);
        else child.kill(name);
      } catch {
        // Nothing of the group is left.
      }
    };
    // The first Ctrl-C lets the program report, the second ends everything.
    process.once("SIGINT", () => {
      signal("SIGINT");
      process.once("SIGINT", () => signal("SIGKILL"));
    });
    process.once("SIGTERM", () => signal("SIGTERM"));
    const hangs = (): void => {
      console.error(`stopped: no test has ended for ${limitS} s (HOLDFAST_TEST_LIMIT_S)`);
      signal("SIGKILL");
    };
    const limit = limitS === undefined ? undefined : setTimeout(hangs, limitS * 1000);
    child.on("message", () => limit?.refresh());
    return new Promise((done, fail) => {
      child.on("error", fail);
      child.on("close", (code, name) => {
        clearTimeout(limit);
        // A worker in an endless loop hears no other signal.
        signal("SIGKILL");
        rmSync(file, { force: true });
        done(code ?? (name === "SIGINT" ? interrupted : 1));
      });
    });
  }

  /** Resolves when what was left of it has been killed, and its files are gone. */
  async end(): Promise<void> {
    const ended = once(this.#keeper, "exit");
    this.#keeper.stdin?.end();
    await ended;
  }
}
