/**
 * Guard: a shell that waits for the death of this process, and then ends the command, which must not run on
 * without its lock. SIGKILL and the out-of-memory killer leave no other moment to do it.
 */
import { spawn } from "node:child_process";

/** Reads whom to end, then waits for a word. At the end of the pipe instead, its writer has died. */
const PROGRAM = `
read -r target || exit
if read -r word; then exit; fi
kill -s TERM -- "$target"
kill -s CONT -- "$target"
sleep "$1"
kill -s KILL -- "$target"
`;

export interface Guard {
  /** @param target as kill(1) takes it: a process, or a group with a minus. */
  watch(target: number): void;
  /** Nothing is left to end. */
  dismiss(): void;
}

/** Before the command starts, so that it is never without. */
export function postGuard(graceMs: number): Guard {
  const graceS = String(Math.ceil(graceMs / 1_000));
  const guard = spawn("/bin/sh", ["-c", PROGRAM, "holdfast-guard", graceS], {
    stdio: ["pipe", "ignore", "ignore"],
    // A session of its own: what ends the command's group, or this one, must not end the guard.
    detached: true,
    cwd: "/",
  });
  guard.on("error", () => {}); // Without a shell there is none.
  guard.stdin.on("error", () => {});
  guard.unref();
  return {
    watch: (target) => void guard.stdin.write(`${target}\n`),
    dismiss: () => void guard.stdin.end("done\n"),
  };
}
