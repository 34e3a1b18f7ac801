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
left=$1
while [ "$left" -gt 0 ] && kill -s 0 -- "$target"; do
  [ -z "$2" ] || kill -s 0 -- "-$2" || break
  sleep 1
  left=$((left - 1))
done
kill -s KILL -- "$target"
`;

export interface Guard {
  /** @param target as kill(1) takes it: a process, or a group with a minus. */
  watch(target: number): void;
  /** Nothing is left to end. */
  dismiss(): void;
}

/**
 * Before the command starts, so that it is never without.
 * @param outer the group that another holdfast has made, and that this process is in: when it is gone, that one has killed all of it, and
 * there is no grace any more
 */
export function postGuard(graceMs: number, outer: number | null): Guard {
  const graceS = String(Math.ceil(graceMs / 1_000));
  const guard = spawn("/bin/sh", ["-c", PROGRAM, "holdfast-guard", graceS, String(outer ?? "")], {
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
