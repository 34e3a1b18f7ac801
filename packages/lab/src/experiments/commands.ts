/** How often a server has carried out commands of these names for its clients, since it started. */
import type { Node } from "../sim/node.js";

export function commandsRun(node: Node, ...names: string[]): number {
  const told = String(node.peek("INFO", "commandstats"));
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  const rows = [...told.matchAll(/^cmdstat_(\w+):calls=(\d+)/gm)];
  return rows.reduce((sum, [, name = "", calls]) => sum + (wanted.has(name) ? Number(calls) : 0), 0);
}
