/** How a command ends. The exit codes are those of sysexits.h where it has one. */
import { constants } from "node:os";

/** An exit code; or a signal, where a signal ended the work, or the command that ran under a lock. */
export type Exit = number | NodeJS.Signals;

export const EXIT = {
  ok: 0,
  /** A defect of this program. */
  broken: 1,
  /** `holdfast doctor` found something that puts locks at risk; `holdfast leader`: nobody leads; `holdfast signal emit --one`: nobody waits. */
  no: 1,
  /** `holdfast lab`: a run in which nothing could be shown; as `npm run chaos` has it. */
  void: 2,
  /** `holdfast record`: the record has another version than the one that was named. */
  conflict: 3,
  /** Wrong arguments. */
  usage: 64,
  /** Redis is unreachable, or refuses; a port is not free. */
  unavailable: 69,
  /** The lease was lost: the command was stopped. */
  lost: 70,
  /** The output cannot be written. */
  output: 74,
  /** Another holder has the lock; the limit is used up; no message came; the queue is full. */
  busy: 75,
  /** The lease was lost, and the command could not be stopped: it worked on without it. */
  unstopped: 77,
  notExecutable: 126,
  notFound: 127,
} as const;

/** Of a signal 128 and its number, as shells have it. */
export function codeOfExit(exit: Exit): number {
  return typeof exit === "number" ? exit : 128 + constants.signals[exit];
}
