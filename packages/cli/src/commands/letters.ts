/** Dead letters and deliveries, of queues and of lanes alike. */
import type { DeadLetter, InFlight } from "holdfast";
import { EXIT } from "../exit-codes.js";
import { deadTable, forJson, inFlightTable } from "../output/messages.js";
import { jsonOf, note, printLine } from "../output/output.js";
import { printable } from "../output/text.js";
import type { Settings } from "../settings.js";

/** A queue, or the lanes of a name. */
interface Letterbox {
  readonly name: string;
  dead(options: { readonly count: number }): Promise<readonly DeadLetter[]>;
  redrive(ids: readonly string[] | { readonly all: true }): Promise<number>;
}

interface Waiting {
  readonly name: string;
  cancel(id: string): Promise<boolean>;
}

interface Dispatcher {
  readonly name: string;
  inFlight(options: { readonly count: number }): Promise<readonly InFlight[]>;
}

/** @param called what the id is called there */
export async function cancelWaiting(
  from: Waiting,
  called: "id" | "ticket",
  id: string,
  { json }: Settings,
): Promise<number> {
  const cancelled = await from.cancel(id);
  if (json) printLine(jsonOf({ name: from.name, [called]: id, cancelled }));
  else if (cancelled) printLine("cancelled");
  else note("it does not wait: a process has it, or it is over");
  return cancelled ? EXIT.ok : EXIT.no;
}

export async function showInFlight(from: Dispatcher, count: number, { json }: Settings): Promise<number> {
  const deliveries = await from.inFlight({ count });
  if (json) printLine(jsonOf({ name: from.name, inFlight: deliveries.map(forJson) }));
  else if (deliveries.length === 0) note(`no process has a message of '${printable(from.name)}'`);
  else for (const line of await inFlightTable(deliveries)) printLine(line);
  return EXIT.ok;
}

export async function showDead(box: Letterbox, count: number, { json }: Settings): Promise<number> {
  const letters = await box.dead({ count });
  if (json) printLine(jsonOf({ name: box.name, dead: letters.map(forJson) }));
  else if (letters.length === 0) note(`'${printable(box.name)}' has no dead letter`);
  else for (const line of await deadTable(letters)) printLine(line);
  return EXIT.ok;
}

/** @param ids ids or tickets; none: all dead letters */
export async function redriveDead(
  box: Letterbox,
  ids: readonly string[],
  { json }: Settings,
): Promise<number> {
  const redriven = await box.redrive(ids.length > 0 ? ids : { all: true });
  printLine(json ? jsonOf({ name: box.name, redriven }) : String(redriven));
  return EXIT.ok;
}
