/** What happens now: one line that is written over on a terminal, a line every few seconds elsewhere. On stderr. */
import colors from "picocolors";
import type { Watcher } from "../rig/interleave.js";

export interface Progress extends Watcher {
  clear(): void;
}

const LOG_EVERY_MS = 5_000;

export function progressOn(stream: NodeJS.WriteStream): Progress {
  const since = performance.now();
  const stamped = (line: string) => `${Math.round((performance.now() - since) / 1_000)} s  ${line}`;
  if (stream.isTTY) {
    return {
      now: (line) =>
        stream.write(`\r\x1b[K${colors.dim(stamped(line).slice(0, Math.max(20, stream.columns - 1)))}`),
      clear: () => stream.write("\r\x1b[K"),
    };
  }
  let last = Number.NEGATIVE_INFINITY;
  return {
    now(line) {
      if (performance.now() - last < LOG_EVERY_MS) return;
      last = performance.now();
      stream.write(`${stamped(line)}\n`);
    },
    clear() {},
  };
}
