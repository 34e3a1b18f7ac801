/** What a campaign found, for people and for programs. */

import type { Fate } from "./campaign.js";
import type { Mutant } from "./mutant.js";

/** A mutant, and what became of it. */
export interface Entry {
  readonly mutant: Mutant;
  readonly fate: Fate | undefined;
  /** A test of the library that fails on it. */
  readonly unit: string | undefined;
}

interface FileRow {
  readonly file: string;
  readonly mutants: number;
  readonly killed: number;
  readonly byUnit: number;
  readonly excused: number;
  readonly alive: number;
  readonly medianSeeds: number;
  readonly worstSeeds: number;
}

export class Report {
  readonly #entries: readonly Entry[];

  /** @param units by the key of a mutant the test of the library that fails on it */
  constructor(
    mutants: readonly Mutant[],
    fates: ReadonlyMap<string, Fate>,
    units: ReadonlyMap<string, string> = new Map(),
  ) {
    this.#entries = mutants.map((mutant) => ({
      mutant,
      fate: fates.get(mutant.key),
      unit: units.get(mutant.key),
    }));
  }

  /** Not killed, and nobody has said why that is right. Those that were never tried as well. */
  get survivors(): readonly Entry[] {
    return this.#entries.filter(isAlive);
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
        ({ mutant: { key, file, line, operator, before, after, excuse }, fate, unit }) => ({
          key,
          file,
          line,
          operator,
          before,
          after,
          kill: fate?.kill ?? null,
          seeds: fate?.seeds ?? 0,
          different: fate?.different ?? 0,
          unit: unit ?? null,
          excuse: excuse ?? null,
        }),
      ),
    };
  }

  get text(): string {
    const lines = [
      "| file | mutants | killed | by unit tests | excused | alive | seeds to kill: median | worst |",
      "| ---- | ------- | ------ | ------------- | ------- | ----- | --------------------- | ----- |",
      ...this.rows.map(
        ({ file, mutants, killed, byUnit, excused, alive, medianSeeds, worstSeeds }) =>
          `| ${file} | ${mutants} | ${killed} | ${byUnit} | ${excused} | ${alive} | ${medianSeeds} | ${worstSeeds} |`,
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

function isAlive({ mutant, fate, unit }: Entry): boolean {
  return !fate?.kill && !mutant.excuse && unit === undefined;
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
  const byUnit = entries.filter(({ fate, unit }) => !fate?.kill && unit !== undefined).length;
  const alive = entries.filter(isAlive).length;
  return {
    file,
    mutants: entries.length,
    killed: kills.length,
    byUnit,
    excused: entries.length - kills.length - byUnit - alive,
    alive,
    medianSeeds: kills[kills.length >> 1] ?? 0,
    worstSeeds: kills.at(-1) ?? 0,
  };
}
