/**
 * The processes of a command, to be signalled together.
 *
 * Away from a terminal the command gets a session and a process group of its own. On a terminal it must
 * stay in the group of holdfast, the one that may read from the terminal and that Ctrl-C and Ctrl-Z reach:
 * Node.js cannot move a child to another group without taking the terminal from it. That group may have
 * other members, such as the `tee` of `holdfast lock … | tee log`, and those are none of ours.
 */
import { type ProcessRow, processTable } from "./process-table.js";

export interface ProcessGroup {
  /** Whether any process of the command is left. */
  alive(): boolean;
  /** To all of them. Those that are gone already do not matter. False: another user's did not get it, such as that of `sudo`. */
  signal(name: NodeJS.Signals): boolean;
}

/** The group that `leader` was started as the first of. */
export function ownGroup(leader: number): ProcessGroup {
  const members = (): ProcessRow[] => processTable().filter(({ group }) => group === leader);
  return {
    alive: () => members().length > 0,
    signal(name) {
      const isHeard = send(-leader, name);
      // The kernel says of a group that it may not only where it may signal none of it.
      return isHeard && members().every(({ pid }) => send(pid, 0));
    },
  };
}

/** The group that this process is in, less those who were in it before. Made before the command starts. */
export function sharedGroup(): ProcessGroup {
  const before = new Set(groupOfThisProcess().map(({ pid }) => pid));
  const members = (): ProcessRow[] => {
    const group = new Map(groupOfThisProcess().map((row) => [row.pid, row]));
    return [...group.values()].filter((row) => isOurs(row, group, before));
  };
  return {
    alive: () => members().length > 0,
    signal: (name) =>
      members()
        .map(({ pid }) => send(pid, name))
        .every((isSent) => isSent),
  };
}

/**
 * A process is the command's when its line of parents inside the group leads to this process, or ends at
 * one that came later and lost its parent. The line of a neighbour leads to somebody who was there before.
 */
function isOurs(
  row: ProcessRow,
  group: ReadonlyMap<number, ProcessRow>,
  before: ReadonlySet<number>,
): boolean {
  if (row.pid === process.pid) return false;
  for (let at: ProcessRow | undefined = row; at; at = group.get(at.parent)) {
    if (at.pid === process.pid) return true;
    if (before.has(at.pid)) return false;
  }
  return true;
}

/** Whether what is typed at the terminal reaches this process, and the command in its group. */
export function isInForeground(): boolean {
  const own = thisProcess(processTable());
  return own !== undefined && own.foreground === own.group;
}

/** Whether `leader` is the first of the group that this process is in. */
export function isInGroupOf(leader: number): boolean {
  return thisProcess(processTable())?.group === leader;
}

function groupOfThisProcess(): ProcessRow[] {
  const rows = processTable();
  const own = thisProcess(rows)?.group;
  return rows.filter(({ group }) => group === own);
}

function thisProcess(rows: readonly ProcessRow[]): ProcessRow | undefined {
  return rows.find(({ pid }) => pid === process.pid);
}

/** @param name 0: a look whether it might be signalled */
function send(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EPERM") return false;
    if (code !== "ESRCH") throw error; // it has ended
  }
  return true;
}
