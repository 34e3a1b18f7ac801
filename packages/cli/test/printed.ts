/** What a command has printed so far, whether it has a process of its own or not. */
import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";

export interface Ended {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class Printed {
  stdout = "";
  stderr = "";
  /** Everything was read. */
  readonly closed: Promise<unknown>;
  readonly #streams: { readonly stdout: Readable; readonly stderr: Readable };

  constructor(streams: { readonly stdout: Readable; readonly stderr: Readable }) {
    this.#streams = streams;
    for (const name of ["stdout", "stderr"] as const)
      streams[name].setEncoding("utf8").on("data", (text: string) => {
        this[name] += text;
      });
    this.closed = Promise.allSettled([finished(streams.stdout), finished(streams.stderr)]);
  }

  /** Waits until this was printed. */
  printed(pattern: RegExp, where: "stdout" | "stderr" = "stdout"): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(this[where]);
        if (match) resolve(match);
      };
      this.#streams[where].on("data", look);
      void this.closed.then(() =>
        reject(new Error(`ended without ${pattern}: ${this.stdout}${this.stderr}`)),
      );
      look();
    });
  }

  /** The lines of stderr, each a JSON document. */
  events(): Record<string, unknown>[] {
    return jsonLines(this.stderr);
  }
}

export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}
