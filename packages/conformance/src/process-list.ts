/** The processes of this machine, as a test looks for what is left of a program: from /proc, or from ps where there is none. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

export interface ProcessEntry {
  readonly pid: number;
  readonly group: number;
  /** A letter: `R` runs, `S` sleeps, `T` is stopped. */
  readonly state: string;
  /** Its command line. */
  readonly command: string;
}

/** Every process that has not ended: one that waits to be noticed by its parent has. */
export function processList(): ProcessEntry[] {
  const all = process.platform === "linux" ? fromProc() : fromPs();
  return all.filter(({ state }) => state !== "Z" && state !== "X");
}

function fromProc(): ProcessEntry[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "latin1");
        // The name of the program stands in parentheses and may have some of its own.
        const [state = "", , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim();
        return [{ pid: Number(name), group: Number(group), state, command }];
      } catch {
        return []; // It ended meanwhile.
      }
    });
}

function fromPs(): ProcessEntry[] {
  const table = execFileSync("ps", ["-A", "-o", "pid=,pgid=,stat=,args="], { encoding: "utf8" });
  return table.split("\n").flatMap((line) => {
    const [, pid, group, state = "", command = ""] = /^\s*(\d+)\s+(\d+)\s+(\S)\S*\s+(.*)$/.exec(line) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), group: Number(group), state, command }];
  });
}
