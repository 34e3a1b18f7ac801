/** What a campaign found, for people and for programs. */

import type { Fate } from "./campaign.js";
import { type Excuse, excuseOf } from "./excuses.js";
import type { Mutant } from "./mutant.js";

/** A mutant, and what became of it. */
export interface Entry {
  readonly mutant: Mutant;
  readonly fate: Fate | undefined;
  readonly excuse: Excuse | undefined;
}

interface FileRow {
  readonly file: string;
  readonly mutants: number;
  readonly killed: number;
  readonly excused: number;
  readonly alive: number;
  readonly medianSeeds: number;
  readonly worstSeeds: number;
}

export class Report {
  readonly #entries: readonly Entry[];

  constructor(mutants: readonly Mutant[], fates: ReadonlyMap<string, Fate>) {
    this.#entries = mutants.map((mutant) => ({
      mutant,
      fate: fates.get(mutant.key),
      excuse: excuseOf(mutant),
    }));
  }

  /** Not killed, and nobody has said why that is right. Those that were never tried as well. */
  get survivors(): readonly Entry[] {
    return this.#entries.filter(({ fate, excuse }) => !fate?.kill && !excuse);
  }

  get rows(): readonly FileRow[] {
    const files = [...new Set(this.#entries.map(({ mutant }) => mutant.file))];
    const rows = files.map((file) =>
      rowOf(
        file,
        this.#entries.filter(({ mutant }) => mutant.file === file),
      ),
    );
    return [...rows, rowOf("all", this.#entries)];
  }

  get data(): unknown {
    return {
      files: this.rows,
      mutants: this.#entries.map(
        ({ mutant: { key, file, line, operator, before, after }, fate, excuse }) => ({
          key,
          file,
          line,
          operator,
          before,
          after,
          kill: fate?.kill ?? null,
          seeds: fate?.seeds ?? 0,
          different: fate?.different ?? 0,
          excuse: excuse ?? null,
        }),
      ),
    };
  }

  get text(): string {
    const lines = [
      "| file | mutants | killed | excused | alive | seeds to kill: median | worst |",
      "| ---- | ------- | ------ | ------- | ----- | --------------------- | ----- |",
      ...this.rows.map(
        ({ file, mutants, killed, excused, alive, medianSeeds, worstSeeds }) =>
          `| ${file} | ${mutants} | ${killed} | ${excused} | ${alive} | ${medianSeeds} | ${worstSeeds} |`,
      ),
      "",
      ...killers(this.#entries),
    ];
    for (const { mutant, fate } of this.survivors) {
      const tried = fate
        ? `alive after ${fate.seeds} seeds: ${fate.runs} could show it, ${fate.different} were other runs`
        : "not tried";
      lines.push(`${mutant.file}:${mutant.line}: ${mutant.before} → ${mutant.after} (${tried})`);
    }
    return lines.join("\n");
  }
}

/** By which property how many were killed. */
function killers(entries: readonly Entry[]): string[] {
  const counts = new Map<string, number>();
  for (const { fate } of entries) {
    const property = fate?.kill?.property;
    if (property !== undefined) counts.set(property, (counts.get(property) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return [`killed by: ${sorted.map(([property, times]) => `${property} ${times}`).join(", ")}`, ""];
}

function rowOf(file: string, entries: readonly Entry[]): FileRow {
  const kills = entries.flatMap(({ fate }) => (fate?.kill ? [fate.seeds] : [])).sort((a, b) => a - b);
  const alive = entries.filter(({ fate, excuse }) => !fate?.kill && !excuse).length;
  return {
    file,
    mutants: entries.length,
    killed: kills.length,
    excused: entries.length - kills.length - alive,
    alive,
    medianSeeds: kills[kills.length >> 1] ?? 0,
    worstSeeds: kills.at(-1) ?? 0,
  };
}
