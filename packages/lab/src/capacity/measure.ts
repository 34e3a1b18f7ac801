/** Runs one part of the measurement: the loads in virtual time, in real processes, or those that keep a server busy. */
import type { Load, Row, Scale } from "./load.js";
import { loads, realScale, virtualScale } from "./loads/list.js";
import { loops } from "./loads/loops.js";
import { endCrew, playReally, startCrew } from "./real/play.js";
import type { Part, PartName } from "./record.js";
import { playVirtually } from "./virtual.js";

export interface MeasureTerms {
  /** Path of redis-server; null: virtual time alone. */
  readonly program: string | null;
  /** Numbers of processes; those of the server's part are its own. */
  readonly processes: readonly number[];
  /** Called before each load. */
  readonly now: (line: string) => void;
}

/** Clients that keep one server busy, on two cores. */
const busyProcesses = 2;

export async function measurePart(
  part: PartName,
  { program, processes: usual, now }: MeasureTerms,
): Promise<Pick<Part, "scale" | "rows" | "failed">> {
  const rows: Row[] = [];
  const failed: string[] = [];
  const scale = part === "virtual" ? virtualScale : realScale;
  const chosen = part === "server" ? loops : loads;
  const numbers = part === "server" ? [busyProcesses] : usual;
  let begun = 0;
  for (const processes of numbers) {
    const { play, end } = part === "virtual" ? virtually(processes) : really(processes, program);
    try {
      for (const load of chosen) {
        begun += 1;
        const of = processes === 1 ? "1 process" : `${processes} processes`;
        now(`${part}, ${begun} of ${chosen.length * numbers.length}: ${load.id}, ${of}`);
        try {
          const found = await play(load, scale);
          const flaw = load.flaw?.(found) ?? null;
          if (flaw === null) rows.push(...found);
          else failed.push(`${load.id}, ${of}: ${flaw}`);
        } catch (error) {
          // A machine with too much to do leaves calls without an answer. The other loads have their figures all the same.
          failed.push(`${load.id}, ${of}: ${String((error as Error).message).split("\n")[0]}`);
        }
      }
    } finally {
      await end();
    }
  }
  return { scale, rows, failed };
}

interface Stage {
  play(load: Load, scale: Scale): Promise<Row[]>;
  end(): Promise<void>;
}

function virtually(processes: number): Stage {
  return { play: (load, scale) => playVirtually(load, processes, scale), end: async () => {} };
}

function really(processes: number, program: string | null): Stage {
  if (program === null) throw new Error("needs a redis-server");
  const crew = startCrew(processes);
  return { play: (load, scale) => playReally(load, crew, { program, scale }), end: () => endCrew(crew) };
}
