/** A terminal: a pseudo-terminal from script(1), and an emulator that knows what is to be seen on it. */

import { type ChildProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { killLaunched, launch, program } from "@holdfast/conformance";
import xterm from "@xterm/headless";
import { onTestFinished } from "vitest";
import { CLEAN } from "./program.js";

/** How long something may take to be seen on a machine with its hands full. */
const TIMEOUT_MS = 20_000;

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

export class Terminal {
  readonly #child: ChildProcess;
  readonly #screen: InstanceType<typeof xterm.Terminal>;
  readonly #ended: Promise<number>;
  readonly #watchers = new Set<() => void>();
  #device = "";
  /** Everything that was written to it. */
  written = "";

  /** Runs a shell command on it. With `exec` before it, Ctrl-C reaches the command and no shell beside it. */
  constructor(
    command: string,
    env: NodeJS.ProcessEnv,
    { columns, rows }: TerminalSize = { columns: 80, rows: 24 },
  ) {
    this.#screen = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
    const prepared = `stty cols ${columns} rows ${rows}; echo "on $(tty)"; ${command}`;
    this.#child = launch(program("script"), ["-qefc", prepared, "/dev/null"], {
      cwd: tmpdir(),
      env: { ...process.env, ...CLEAN, TERM: "xterm-256color", SHELL: "/bin/sh", ...env },
      detached: true,
    });
    this.#child.stdout?.on("data", (chunk) => {
      this.written += chunk;
      this.#device = /on (\/dev\/\S+)/.exec(this.written)?.[1] ?? "";
      this.#screen.write(chunk, () => {
        for (const look of this.#watchers) look();
      });
    });
    this.#ended = once(this.#child, "close").then(
      // The emulator takes its time: what came last is to be seen before the end is told.
      ([code]) => new Promise((resolve) => this.#screen.write("", () => resolve(code as number))),
    );
    onTestFinished(() => killLaunched(this.#child));
  }

  type(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  /** As a window is dragged: the kernel tells the foreground. */
  resize({ columns, rows }: TerminalSize): void {
    this.#screen.resize(columns, rows);
    spawnSync("stty", ["-F", this.#device, "cols", String(columns), "rows", String(rows)]);
  }

  /** What is to be seen, without the blanks at the ends of lines. */
  text(): string {
    const { active } = this.#screen.buffer;
    const line = (row: number): string =>
      active
        .getLine(active.viewportY + row)
        ?.translateToString(true, 0, this.#screen.cols)
        .trimEnd() ?? "";
    return Array.from({ length: this.#screen.rows }, (_, row) => line(row))
      .join("\n")
      .trimEnd();
  }

  get isAlternate(): boolean {
    return this.#screen.buffer.active.type === "alternate";
  }

  /** Waits until this is to be seen. */
  shows(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error(`no ${pattern} in:\n${this.text()}`)), TIMEOUT_MS);
      const look = (): void => {
        const match = pattern.exec(this.text());
        if (!match) return;
        clearTimeout(limit);
        this.#watchers.delete(look);
        resolve(match);
      };
      this.#watchers.add(look);
      void this.#ended.then(() => reject(new Error(`ended without ${pattern}:\n${this.text()}`)));
      look();
    });
  }

  /** The window is closed. */
  hangUp(): void {
    this.#child.kill("SIGKILL");
  }

  ended(): Promise<number> {
    return this.#ended;
  }
}
