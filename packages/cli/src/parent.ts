/**
 * Whether npm has started this process for somebody: by `npx holdfast` or `npm exec`. A SIGTERM for npx ends the shell that npm runs the
 * command in, and nothing else: the command and its lock would go on as orphans.
 */
import { readFileSync } from "node:fs";
import { ignoresHangUp } from "./hang-up.js";
import { every } from "./time.js";

const LOOK_MS = 500;

/** Ends this process, as SIGTERM does, when the shell of npx has ended. What another program of npx has started may be meant to outlive it. */
export function endWithNpx(): void {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script = "" } = process.env;
  if (event !== "npx" || !/\bholdfast\b/.test(script)) return;
  // What the command starts in its turn is none of npx.
  delete process.env["npm_lifecycle_event"];
  // A hang-up ends npx and its shell, and is to end nothing else.
  if (ignoresHangUp()) return;
  const parent = process.ppid;
  const look = (): void => {
    if (process.ppid === parent && !isStranger(parent)) return;
    cancel();
    process.kill(process.pid, "SIGTERM");
  };
  const cancel = every(LOOK_MS, look);
  look();
}

/** Whether the parent is neither npm nor its shell, which has ended before this program began. Linux alone tells it. */
function isStranger(parent: number): boolean {
  try {
    return !/npm|npx|holdfast/.test(readFileSync(`/proc/${parent}/cmdline`, "latin1"));
  } catch {
    return false;
  }
}
