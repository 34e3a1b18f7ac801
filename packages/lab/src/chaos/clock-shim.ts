/** ClockShim: compiles clock-shim.c, and moves the wall clocks of processes that were started with it. */
import { spawnSync } from "node:child_process";
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The same path from src/chaos and from dist/chaos. */
const source = fileURLToPath(new URL("../../src/chaos/clock-shim.c", import.meta.url));

export class ClockShim {
  readonly #library: string;

  private constructor(library: string) {
    this.#library = library;
  }

  /** Or why there is none. */
  static compile(folder: string): ClockShim | string {
    if (process.platform !== "linux") return "only Linux has LD_PRELOAD";
    const library = join(folder, "clock-shim.so");
    const args = ["-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, source];
    const { error, status, stderr } = spawnSync("gcc", args, { encoding: "utf8" });
    if (error) return "no gcc (apt-get install gcc libc6-dev)";
    return status === 0 ? new ClockShim(library) : `gcc failed: ${stderr.trim()}`;
  }

  /** A clock that shows the machine's time until it is stepped. */
  clock(folder: string, name: string): ShimmedClock {
    return new ShimmedClock(this.#library, join(folder, `${name}.clock`));
  }
}

export class ShimmedClock {
  /** For a process that is to read this clock. */
  readonly env: Readonly<Record<string, string>>;
  readonly #file: string;
  #offsetMs = 0;

  constructor(library: string, file: string) {
    this.#file = file;
    this.env = { LD_PRELOAD: library, CLOCK_SHIM_FILE: file };
    writeFileSync(file, Buffer.alloc(8));
  }

  get offsetMs(): number {
    return this.#offsetMs;
  }

  set(offsetMs: number): void {
    this.#offsetMs = offsetMs;
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(Math.round(offsetMs * 1_000)));
    const file = openSync(this.#file, "r+");
    writeSync(file, bytes, 0, bytes.length, 0);
    closeSync(file);
  }
}
