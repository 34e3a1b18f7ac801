/** The processes of this machine: Linux has them in /proc, other systems tell through ps. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** The group that gets what is typed at its terminal; below 1 where it has none. */
  readonly foreground: number;
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
        const [state = "", parent, group, , , foreground] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        return rowOf(state, [name, parent, group, foreground]);
      } catch {
        return []; // It ended meanwhile.
      }
    });
}

function fromPs(): ProcessRow[] {
  const table = execFileSync("ps", ["-A", "-o", "stat=,pid=,ppid=,pgid=,tpgid="], { encoding: "utf8" });
  return table.split("\n").flatMap((line) => {
    const [state = "", ...numbers] = line.trim().split(/\s+/);
    return numbers.length === 0 ? [] : rowOf(state, numbers);
  });
}

/** A zombie only waits for its parent to take notice. */
function rowOf(state: string, numbers: readonly (string | undefined)[]): ProcessRow[] {
  if (state.startsWith("Z") || state.startsWith("X")) return [];
  const [pid = 0, parent = 0, group = 0, foreground = 0] = numbers.map(Number);
  return [{ pid, parent, group, foreground }];
}
