/**
 * Whether a hang-up of the terminal is to end nothing, as nohup and a shell's `trap '' HUP` ask for. Node.js sets every signal that its
 * parent ignored back to what it does by default before a program runs, so this can be known by traces alone: a shell has noted that
 * it called nohup, nohup has taken the terminal away, or the parent ignores hang-ups itself. Of other signals a parent says nothing:
 * interactive shells and system(3) ignore some that they let end their children.
 */
import { constants as files, readFileSync, readlinkSync } from "node:fs";
import { constants } from "node:os";
import { basename } from "node:path";

let known: boolean | null = null;

export function ignoresHangUp(): boolean {
  known ??= isCalledByNohup() || hasInputOfNohup() || isIgnoredBy(process.ppid);
  return known;
}

/** bash, zsh and ksh tell a program the path that it was called by. What it calls has the variable from it. */
function isCalledByNohup(): boolean {
  return basename(process.env["_"] ?? "") === "nohup";
}

/** In place of a terminal, the nohup of GNU gives a program a stdin that can only be written. Linux alone tells it. */
function hasInputOfNohup(): boolean {
  try {
    const [, flags = "0"] = /^flags:\s*(\d+)$/m.exec(readFileSync("/proc/self/fdinfo/0", "latin1")) ?? [];
    const isForWriting = (Number.parseInt(flags, 8) & (files.O_RDWR | files.O_WRONLY)) === files.O_WRONLY;
    return isForWriting && readlinkSync("/proc/self/fd/0") === "/dev/null";
  } catch {
    return false;
  }
}

/** Linux alone tells it, too. */
function isIgnoredBy(pid: number): boolean {
  try {
    const [, digits = "0"] =
      /^SigIgn:\s*([\da-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1")) ?? [];
    return (BigInt(`0x${digits}`) & (1n << BigInt(constants.signals.SIGHUP - 1))) !== 0n;
  } catch {
    return false;
  }
}
