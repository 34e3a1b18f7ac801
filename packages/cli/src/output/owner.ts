/** How a process that holds or waits is named to people. */
import { printable } from "./text.js";

interface Named {
  readonly label: string;
  readonly pid: number;
  readonly host: string;
}

export function ownerText(owner: Named | null): string {
  if (!owner) return "a process that does not say who it is";
  const { label, pid, host } = owner;
  return printable(label === "" ? `pid ${pid} on ${host}` : `${label} (pid ${pid} on ${host})`);
}

/** The same where there is little room. */
export function ownerCell(owner: Named | null): string {
  if (!owner) return "unknown";
  const { label, pid, host } = owner;
  return printable(label === "" ? `${host}:${pid}` : `${label} ${host}:${pid}`);
}
