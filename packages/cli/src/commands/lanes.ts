/** `holdfast lanes`: what people do to lanes by hand, while consumers run. */
import type { LaneState } from "holdfast";
import { confirmed } from "../confirm.js";
import { EXIT } from "../exit-codes.js";
import { Failure } from "../failure.js";
import { feed } from "../feed.js";
import { host } from "../host.js";
import { parseValue, readValue, type ValueForm } from "../input.js";
import { laneDetails, laneTable, placeText } from "../output/lanes.js";
import { forJson, waitingTable } from "../output/messages.js";
import { colorsFor, jsonOf, note, printLine } from "../output/output.js";
import { headed } from "../output/states.js";
import { printable } from "../output/text.js";
import { rulerFor } from "../output/width.js";
import { withSession } from "../session.js";
import type { Settings } from "../settings.js";
import { cancelWaiting, redriveDead, showDead, showInFlight } from "./letters.js";
import { roomIn } from "./look.js";
import { isBlank } from "./queue.js";

const ALL = { all: true } as const;

export interface PushTerms {
  readonly name: string;
  /** Undefined: each line of stdin names its own. */
  readonly lane: string | undefined;
  /** "-" for stdin, one message a line. */
  readonly body: string;
  readonly form: ValueForm;
}

/** A lane; undefined: all of them. */
export interface LaneTerms {
  readonly name: string;
  readonly lane: string | undefined;
}

export interface TicketTerms {
  readonly name: string;
  readonly ticket: string;
}

export interface CountTerms {
  readonly name: string;
  readonly count: number;
}

export interface EndTerms extends LaneTerms {
  /** Do not ask. */
  readonly yes: boolean;
}

export function push(terms: PushTerms, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }, signal) => {
    const { name, lane, body, form } = terms;
    const lanes = hf.lanes(name);
    if (body === "-" && form !== "bytes") {
      const fed = await feed({
        json: settings.json,
        signal,
        parse: (line) => (isBlank(line, form) ? null : messageOf(line, lane, form)),
        push: (messages) => lanes.pushMany(messages),
      });
      printLine(settings.json ? jsonOf({ name, ...fed }) : String(fed.pushed));
      return EXIT.ok;
    }
    const ticket = await lanes.push(lane ?? "", await readValue(body, form, signal, "BODY"));
    printLine(settings.json ? jsonOf({ name, lane, ticket }) : printable(ticket));
    return EXIT.ok;
  });
}

function messageOf(line: Buffer, lane: string | undefined, form: ValueForm): { lane: string; body: unknown } {
  if (lane !== undefined) return { lane, body: parseValue(line, form, "BODY") };
  const message = parseValue(line, "json", "it") as Record<string, unknown> | null;
  if (typeof message !== "object" || typeof message?.["lane"] !== "string" || !("body" in message))
    throw new Failure("USAGE", EXIT.usage, "it must be an object with a lane, which is text, and a body");
  return { lane: message["lane"], body: message["body"] };
}

/** The lanes of a name. */
export function list(name: string, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }, signal) => {
    const found = new Map<string, LaneState>();
    for await (const lane of hf.lanes(name).list()) {
      signal.throwIfAborted();
      found.set(lane.lane, lane);
    }
    const lanes = [...found.values()].sort((a, b) => (a.lane < b.lane ? -1 : 1));
    if (settings.json) printLine(jsonOf({ name, lanes }));
    else if (lanes.length === 0) note(`'${printable(name)}' has no lane`);
    else {
      const ruler = await rulerFor(jsonOf(lanes));
      const looks = { width: roomIn(host().stdout), colors: colorsFor(host().stdout), ruler };
      for (const line of laneTable(lanes, looks)) printLine(line);
    }
    return EXIT.ok;
  });
}

/** One lane. */
export function state(name: string, lane: string, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }) => {
    const found = await hf.lanes(name).lane(lane);
    if (settings.json) printLine(jsonOf({ name, ...found }));
    else {
      const ruler = await rulerFor(jsonOf(found));
      const looks = { width: roomIn(host().stdout), colors: colorsFor(host().stdout), ruler };
      for (const line of headed(lane, laneDetails(found), looks)) printLine(line);
    }
    return EXIT.ok;
  });
}

/** @returns 1 when it neither waits nor runs */
export function position({ name, ticket }: TicketTerms, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }) => {
    const place = await hf.lanes(name).position(ticket);
    printLine(settings.json ? jsonOf({ name, ticket, ...place }) : placeText(place));
    return place.state === "over" ? EXIT.no : EXIT.ok;
  });
}

/** @returns 1 when it was too late */
export function cancel({ name, ticket }: TicketTerms, settings: Settings): Promise<number> {
  return withSession(settings, ({ hf }) => cancelWaiting(hf.lanes(name), "ticket", ticket, settings));
}

export function peek(name: string, lane: string, count: number, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }) => {
    const messages = await hf.lanes(name).peek(lane, { count });
    if (settings.json) printLine(jsonOf({ name, lane, messages: messages.map(forJson) }));
    else if (messages.length === 0) note(`no message waits in the lane '${printable(lane)}'`);
    else {
      const rows = messages.map(({ ticket, body }) => ({ id: ticket, body }));
      for (const line of await waitingTable(rows)) printLine(line);
    }
    return EXIT.ok;
  });
}

export function inFlight({ name, count }: CountTerms, settings: Settings): Promise<number> {
  return withSession(settings, ({ hf }) => showInFlight(hf.lanes(name), count, settings));
}

export function dead({ name, count }: CountTerms, settings: Settings): Promise<number> {
  return withSession(settings, ({ hf }) => showDead(hf.lanes(name), count, settings));
}

/** @param tickets none: all dead letters */
export function redrive(name: string, tickets: readonly string[], settings: Settings): Promise<number> {
  return withSession(settings, ({ hf }) => redriveDead(hf.lanes(name), tickets, settings));
}

export function pause({ name, lane }: LaneTerms, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }) => {
    await hf.lanes(name).pause(lane ?? ALL);
    const told = `${thing(name, lane)} ${lane === undefined ? "are" : "is"} paused`;
    printLine(settings.json ? jsonOf({ name, lane: lane ?? null, paused: true }) : told);
    return EXIT.ok;
  });
}

export function resume({ name, lane }: LaneTerms, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }) => {
    await hf.lanes(name).resume(lane ?? ALL);
    const told = `${thing(name, lane)} ${lane === undefined ? "go" : "goes"} on`;
    printLine(settings.json ? jsonOf({ name, lane: lane ?? null, paused: false }) : told);
    return EXIT.ok;
  });
}

/** @param inFlight null: as the programs say */
export function limit(
  { name, lane }: { readonly name: string; readonly lane: string },
  inFlight: number | null,
  settings: Settings,
): Promise<number> {
  return withSession(settings, async ({ hf }) => {
    await hf.lanes(name).limit(lane, inFlight === null ? null : { inFlight });
    const most = inFlight === null ? "as its programs say" : `at most ${inFlight} in flight`;
    printLine(settings.json ? jsonOf({ name, lane, inFlight }) : `${thing(name, lane)}: ${most}`);
    return EXIT.ok;
  });
}

/** @returns 1 when the user said no */
export function drain({ name, lane, yes }: EndTerms, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }, signal) => {
    const lanes = hf.lanes(name);
    const { waiting, delayed } = await (lane === undefined ? lanes.state() : lanes.lane(lane));
    const question = `${thing(name, lane)}: ${waiting + delayed} waiting.\nDelete them?`;
    if (waiting + delayed > 0 && !yes && !(await confirmed(question, signal))) return left();
    const drained = await lanes.drain(lane ?? ALL);
    printLine(settings.json ? jsonOf({ name, lane: lane ?? null, drained }) : String(drained));
    return EXIT.ok;
  });
}

/** @returns 1 when the user said no */
export function reset(name: string, yes: boolean, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }, signal) => {
    const lanes = hf.lanes(name);
    const { waiting, delayed, inFlight, dead: letters } = await lanes.state();
    const counts = `${waiting + delayed} waiting, ${inFlight} in flight, ${letters} dead`;
    const question = `${thing(name, undefined)}: ${counts}.\nDelete all of it, with pauses and limits, but the results?`;
    if (!yes && !(await confirmed(question, signal))) return left();
    await lanes.reset();
    printLine(settings.json ? jsonOf({ name, reset: true }) : `${thing(name, undefined)} begin again`);
    return EXIT.ok;
  });
}

function thing(name: string, lane: string | undefined): string {
  return lane === undefined
    ? `the lanes '${printable(name)}'`
    : `the lane '${printable(lane)}' of '${printable(name)}'`;
}

function left(): number {
  note("left as it is");
  return EXIT.no;
}
