/** What a run says to people. */
import type { Outcome, Progress } from "./chaos.js";
import type { Tally } from "./tally.js";

/** One line. */
export function progressLine(tally: Tally, { seed, server, spentMs }: Progress): string {
  return [
    `${(spentMs / 1_000).toFixed(0).padStart(4)} s`,
    `round ${tally.rounds} (seed ${seed}, ${server})`,
    `${tally.operations} operations`,
    `${tally.grants} grants`,
    `${tally.struck} faults`,
    `${tally.allCaught} canaries caught`,
    `${tally.violations.length} violations`,
  ].join(" · ");
}

export function summary({ tally, broken }: Outcome): string {
  const rows = [...tally.faults.values()].sort((a, b) => b.times - a.times);
  const lines = [
    `${tally.operations} operations, ${tally.grants} grants in ${tally.rounds} rounds`,
    "",
    ...table(
      ["fault", "times", "bites"],
      rows.map(({ kind, times, failed, bites }) => [
        kind,
        failed > 0 ? `${times} (${failed} failed)` : String(times),
        bites ?? "",
      ]),
    ),
    ...table(
      ["canary", "caught"],
      [...tally.caught].map(([canary, times]) => [canary, String(times)]),
    ),
    ...table(
      ["workload", "rounds", "operations", "naive recipe caught"],
      [...tally.nouns].map(([name, { rounds, done, caught }]) => [name, `${rounds}`, `${done}`, `${caught}`]),
    ),
    ...tally.bites
      .filter(({ struck }) => struck > 0)
      .map(({ bite, struck, caught }) => `${bite}: struck ${struck} times, canaries caught ${caught} times`),
    ...[...tally.off].map(([kind, reason]) => `off: ${kind} (${reason})`),
    "",
    ...verdict({ tally, broken }),
  ];
  return lines.join("\n");
}

const SHOWN = 10;

function verdict({ tally, broken }: Outcome): string[] {
  if (broken) {
    const { violations } = tally;
    return [
      `${violations.length} VIOLATIONS in the round with seed ${broken.seed} on ${broken.server}:`,
      ...violations.slice(0, SHOWN).map(({ property, message }) => `  ${property}  ${message}`),
      ...(violations.length > SHOWN ? [`  and ${violations.length - SHOWN} more`] : []),
      `the history, the faults and a picture (violation.html) are in ${broken.folder}`,
      `again: npm run chaos -- --seed ${broken.seed} --server ${broken.server} --minutes 0`,
    ];
  }
  return [tally.void === null ? "no violation" : `VOID: ${tally.void}; this run has shown nothing`];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line), ""];
}

/** For a program. */
export function jsonOf({ tally, broken }: Outcome): string {
  const { rounds, operations, grants, skipped, violations } = tally;
  const about = {
    verdict: broken ? "violation" : tally.void === null ? "ok" : "void",
    void: tally.void,
    rounds,
    operations,
    grants,
    skipped,
    faults: [...tally.faults.values()],
    canaries: Object.fromEntries(tally.caught),
    workloads: Object.fromEntries(tally.nouns),
    bites: tally.bites,
    off: Object.fromEntries(tally.off),
    violations,
    broken,
  };
  return JSON.stringify(about, (_, value) => (typeof value === "bigint" ? String(value) : value), 2);
}
