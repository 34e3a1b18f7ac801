/** `holdfast queue`: what people do to queues by hand, while consumers run. */
import type { Holdfast, Queue } from "holdfast";
import { confirmed } from "../confirm.js";
import { EXIT } from "../exit-codes.js";
import { feed } from "../feed.js";
import { host } from "../host.js";
import { parseValue, readValue, type ValueForm } from "../input.js";
import { delayedTable, forJson, waitingTable } from "../output/messages.js";
import { jsonOf, note, printed, printLine } from "../output/output.js";
import { printable } from "../output/text.js";
import { rawValue, shownValue, valueText } from "../output/values.js";
import { withSession } from "../session.js";
import type { Settings } from "../settings.js";
import { cancelWaiting, redriveDead, showDead, showInFlight } from "./letters.js";

export interface PushTerms {
  readonly name: string;
  /** "-" for stdin, one message a line. */
  readonly body: string;
  readonly form: ValueForm;
  readonly delayMs: number | undefined;
  readonly dedupe: { readonly id: string; readonly for: number | undefined } | undefined;
  readonly order: "fifo" | "lifo" | undefined;
  readonly maxLength: number | undefined;
}

export interface PopTerms {
  readonly name: string;
  readonly waitMs: number;
  readonly raw: boolean;
}

export interface ListTerms {
  readonly name: string;
  readonly count: number;
}

export interface EndTerms {
  readonly name: string;
  /** Do not ask. */
  readonly yes: boolean;
}

/**
 * The programs of a queue know its options, and this command does not. It takes what forbids nothing: a message that it puts back in
 * place of a dead process becomes no dead letter here, and no dead letter is dropped.
 */
function open(hf: Holdfast, name: string, own: Partial<PushTerms> = {}): Queue {
  const { order, maxLength } = own;
  return hf.queue(name, {
    ...(order && { order }),
    ...(maxLength !== undefined && { maxLength }),
    maxBytes: 1_048_576,
    maxAttempts: Number.POSITIVE_INFINITY,
    keepDead: 1_000_000,
  });
}

export function push(terms: PushTerms, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }, signal) => {
    const { name, body, form, delayMs: delay, dedupe } = terms;
    const queue = open(hf, name, terms);
    if (body === "-" && form !== "bytes") {
      const fed = await feed({
        json: settings.json,
        signal,
        parse: (line) => (isBlank(line, form) ? null : { body: parseValue(line, form, "BODY") }),
        push: async (items) => {
          const pushed = await queue.pushMany(
            items.map((item) => item.body),
            { delay },
          );
          return pushed.map(({ id }) => id);
        },
      });
      printLine(settings.json ? jsonOf({ name, ...fed }) : String(fed.pushed));
      return EXIT.ok;
    }
    const value = await readValue(body, form, signal, "BODY");
    const { id, isNew } = await queue.push(value, { delay, dedupe });
    if (settings.json) printLine(jsonOf({ name, id, isNew }));
    else {
      if (!isNew) note("nothing was pushed: a message with this --dedupe came before, with this id");
      printLine(id);
    }
    return EXIT.ok;
  });
}

/** In JSON a blank line says nothing; as text it is a message. */
export function isBlank(line: Buffer, form: ValueForm): boolean {
  return form === "json" && line.toString("latin1").trim() === "";
}

/**
 * The message is removed when it has been printed, and goes back when nobody reads it.
 * @returns 75 when no message came in time
 */
export function pop({ name, waitMs, raw }: PopTerms, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }, signal) => {
    await using message = await open(hf, name).receive({ wait: waitMs, signal });
    if (settings.json) {
      const shown = message ? shownValue(message.body) : { value: null, encoding: null };
      printLine(jsonOf({ name, id: message?.id ?? null, ...shown }));
    } else if (!message) note(`no message came in '${printable(name)}' in time`);
    else if (raw) host().stdout.write(rawValue(message.body, host().stdout.isTTY === true));
    else printLine(valueText(message.body));
    await printed(signal);
    await message?.ack();
    return message ? EXIT.ok : EXIT.busy;
  });
}

export function peek({ name, count }: ListTerms, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }) => {
    const messages = await open(hf, name).peek({ count });
    if (settings.json) printLine(jsonOf({ name, messages: messages.map(forJson) }));
    else if (messages.length === 0) note(`no message waits in '${printable(name)}'`);
    else for (const line of await waitingTable(messages)) printLine(line);
    return EXIT.ok;
  });
}

export function inFlight({ name, count }: ListTerms, settings: Settings): Promise<number> {
  return withSession(settings, ({ hf }) => showInFlight(open(hf, name), count, settings));
}

export function delayed({ name, count }: ListTerms, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }) => {
    const messages = await open(hf, name).delayed({ count });
    if (settings.json) printLine(jsonOf({ name, delayed: messages.map(forJson) }));
    else if (messages.length === 0) note(`no message of '${printable(name)}' is delayed`);
    else for (const line of await delayedTable(messages)) printLine(line);
    return EXIT.ok;
  });
}

/** @returns 1 when it was too late */
export function cancel(name: string, id: string, settings: Settings): Promise<number> {
  return withSession(settings, ({ hf }) => cancelWaiting(open(hf, name), "id", id, settings));
}

export function dead({ name, count }: ListTerms, settings: Settings): Promise<number> {
  return withSession(settings, ({ hf }) => showDead(open(hf, name), count, settings));
}

/** @param ids none: all dead letters */
export function redrive(name: string, ids: readonly string[], settings: Settings): Promise<number> {
  return withSession(settings, ({ hf }) => redriveDead(open(hf, name), ids, settings));
}

export function pause(name: string, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }) => {
    await open(hf, name).pause();
    printLine(settings.json ? jsonOf({ name, paused: true }) : `'${printable(name)}' is paused`);
    return EXIT.ok;
  });
}

export function resume(name: string, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }) => {
    await open(hf, name).resume();
    printLine(settings.json ? jsonOf({ name, paused: false }) : `'${printable(name)}' goes on`);
    return EXIT.ok;
  });
}

/** @returns 1 when the user said no */
export function drain({ name, yes }: EndTerms, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }, signal) => {
    const queue = open(hf, name);
    const { waiting, returned, delayed } = await queue.state();
    const count = waiting + returned + delayed;
    const question = `'${printable(name)}': ${waiting + returned} waiting, ${delayed} delayed.\nDelete them?`;
    if (count > 0 && !yes && !(await confirmed(question, signal))) return left();
    const drained = await queue.drain();
    printLine(settings.json ? jsonOf({ name, drained }) : String(drained));
    return EXIT.ok;
  });
}

/** @returns 1 when the user said no */
export function reset({ name, yes }: EndTerms, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }, signal) => {
    const queue = open(hf, name);
    const { waiting, returned, delayed, inFlight, dead: letters } = await queue.state();
    const counts = `${waiting + returned} waiting, ${delayed} delayed, ${inFlight} in flight, ${letters} dead`;
    const question = `'${printable(name)}': ${counts}.\nDelete all of it, but the results?`;
    if (!yes && !(await confirmed(question, signal))) return left();
    await queue.reset();
    printLine(settings.json ? jsonOf({ name, reset: true }) : `'${printable(name)}' begins again`);
    return EXIT.ok;
  });
}

function left(): number {
  note("left as it is");
  return EXIT.no;
}
