/** Messages of queues and lanes, as lines for people. */
import type { DeadLetter, Delayed, InFlight } from "holdfast";
import { showDuration } from "../duration.js";
import { host } from "../host.js";
import { colorsFor, jsonOf } from "./output.js";
import { type Column, tableOf } from "./table.js";
import { printable } from "./text.js";
import { shownValue, valueText } from "./values.js";
import { rulerFor } from "./width.js";

/** A message that waits. */
export interface Waiting {
  /** Its id, or its ticket. */
  readonly id: string;
  readonly body: unknown;
}

type Letter = Pick<DeadLetter, "id" | "body" | "attempts" | "reason" | "atMs">;

/** Characters of a body in a pipe, which has no width. */
const MOST_OF_BODY = 200;
const WAITING: readonly Column[] = [
  { head: "ID", align: "left", shrinks: true, rank: 2 },
  { head: "BODY", align: "left", shrinks: true, rank: 1 },
];
const DELAYED: readonly Column[] = [
  { head: "ID", align: "left", shrinks: true, rank: 4 },
  { head: "ATTEMPTS", align: "right", shrinks: false, rank: 1 },
  { head: "DUE", align: "right", shrinks: false, rank: 3 },
  { head: "BODY", align: "left", shrinks: true, rank: 2 },
];
const IN_FLIGHT: readonly Column[] = [
  { head: "ID", align: "left", shrinks: true, rank: 5 },
  { head: "ATTEMPT", align: "right", shrinks: false, rank: 1 },
  { head: "ENDS", align: "right", shrinks: false, rank: 2 },
  { head: "PROCESS", align: "left", shrinks: true, rank: 4 },
  { head: "BODY", align: "left", shrinks: true, rank: 3 },
];
const DEAD: readonly Column[] = [
  { head: "ID", align: "left", shrinks: true, rank: 5 },
  { head: "ATTEMPTS", align: "right", shrinks: false, rank: 1 },
  { head: "SINCE", align: "left", shrinks: false, rank: 2 },
  { head: "REASON", align: "left", shrinks: true, rank: 4 },
  { head: "BODY", align: "left", shrinks: true, rank: 3 },
];

export function waitingTable(messages: readonly Waiting[]): Promise<readonly string[]> {
  const rows = messages.map(({ id, body }) => [printable(id), valueText(body)]);
  return lines(WAITING, rows);
}

export function delayedTable(messages: readonly Delayed[]): Promise<readonly string[]> {
  const rows = messages.map(({ id, attempts, dueInMs, body }) => [
    printable(id),
    String(attempts),
    showDuration(dueInMs),
    valueText(body),
  ]);
  return lines(DELAYED, rows);
}

export function inFlightTable(deliveries: readonly InFlight[]): Promise<readonly string[]> {
  const rows = deliveries.map(({ id, attempt, remainingMs, process: holder, body }) => [
    printable(id),
    String(attempt),
    showDuration(remainingMs),
    printable(holder),
    valueText(body),
  ]);
  return lines(IN_FLIGHT, rows);
}

export function deadTable(letters: readonly Letter[]): Promise<readonly string[]> {
  const rows = letters.map(({ id, attempts, atMs, reason, body }) => [
    printable(id),
    String(attempts),
    new Date(atMs).toISOString(),
    printable(reason),
    valueText(body),
  ]);
  return lines(DEAD, rows);
}

async function lines(columns: readonly Column[], rows: readonly (readonly string[])[]): Promise<string[]> {
  const { isTTY, columns: width } = host().stdout;
  const ruler = await rulerFor(jsonOf(rows));
  const cut = rows.map((row) => [...row.slice(0, -1), ruler.clipped(row.at(-1) ?? "", MOST_OF_BODY)]);
  const room = isTTY ? width || 80 : Number.POSITIVE_INFINITY;
  const [head = "", ...rest] = tableOf(columns, cut, room, ruler);
  return [colorsFor(host().stdout).dim(head), ...rest];
}

/** For `--json`: the body as `value`, with its `encoding`. */
export function forJson<Message extends { readonly body: unknown }>(message: Message): object {
  const { body, ...rest } = message;
  return { ...rest, ...shownValue(body) };
}
