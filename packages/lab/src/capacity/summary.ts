/** A part for the terminal: a line for each row. */
import type { Row } from "./load.js";
import { short } from "./record.js";

export function summary(rows: readonly Row[]): string {
  const head = [
    "",
    "processes",
    "done",
    "seconds",
    "requests",
    "commands",
    "client ms",
    "server ms",
    "bytes",
  ];
  const lines = rows.map((row) => [
    `${row.load} ${row.phase}`,
    ...[row.processes, row.done, row.seconds, row.requests, row.commands].map(short),
    ...[row.clientCpuMs, row.serverCpuMs, row.dataBytes].map(short),
  ]);
  const widths = head.map((_, column) =>
    Math.max(...[head, ...lines].map((cells) => (cells[column] ?? "").length)),
  );
  const text = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ");
  return [head, ...lines].map(text).join("\n");
}
