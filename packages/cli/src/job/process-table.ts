/** The processes of this machine: Linux has them in /proc, other systems tell through ps. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
}

/** Every process that has not ended. */
export function processTable(): ProcessRow[] {
  return process.platform === "linux" ? fromProc() : fromPs();
}

function fromProc(): ProcessRow[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "latin1");
        // The name of the program stands in parentheses and may have some of its own.
        const [state = "", parent, group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        return rowOf(state, Number(name), Number(parent), Number(group));
      } catch {
        return []; // It ended meanwhile.
      }
    });
}

function fromPs(): ProcessRow[] {
  const table = execFileSync("ps", ["-A", "-o", "stat=,pid=,ppid=,pgid="], { encoding: "utf8" });
  return table.split("\n").flatMap((line) => {
    const [state = "", pid, parent, group] = line.trim().split(/\s+/);
    return pid === undefined ? [] : rowOf(state, Number(pid), Number(parent), Number(group));
  });
}

/** A zombie only waits for its parent to take notice. */
function rowOf(state: string, pid: number, parent: number, group: number): ProcessRow[] {
  return state.startsWith("Z") || state.startsWith("X") ? [] : [{ pid, parent, group }];
}
