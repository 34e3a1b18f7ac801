/** `holdfast limits ls`, `show` and `reset`: what is used of limits, and by whom. */
import type { LimitState } from "holdfast";
import { confirmed } from "../confirm.js";
import { EXIT } from "../exit-codes.js";
import { host } from "../host.js";
import { interruptible } from "../interrupt.js";
import { limitTable, usedText } from "../output/limits.js";
import { colorsFor, jsonOf, note, printLine } from "../output/output.js";
import { printable } from "../output/text.js";
import { rulerFor } from "../output/width.js";
import { newSession } from "../session.js";
import type { Settings } from "../settings.js";
import { roomIn } from "./look.js";

export interface ListTerms {
  readonly pattern: string;
  readonly target: string;
}

export async function list(terms: ListTerms, settings: Settings): Promise<number> {
  const session = newSession(settings);
  try {
    const limits = await interruptible(async (signal) => {
      await session.connect(signal);
      const inspector = await session.hf.inspector();
      const found: LimitState[] = [];
      for await (const state of inspector.limits(terms)) {
        signal.throwIfAborted();
        found.push(state);
      }
      return found.sort(byName);
    });
    if (settings.json) printLine(jsonOf({ limits }));
    else if (limits.length === 0) note("no limit is used");
    else await printTable(limits);
    return EXIT.ok;
  } finally {
    await session.close();
  }
}

export async function show(name: string, target: string, settings: Settings): Promise<number> {
  const session = newSession(settings);
  try {
    const limits = await interruptible(async (signal) => {
      await session.connect(signal);
      return (await session.hf.inspector()).limit(name, target);
    });
    if (settings.json) printLine(jsonOf({ name, target, limits }));
    else if (limits.length === 0) printLine(`${whose(name, target)}: ${usedText([])}`);
    else await printTable(limits);
    return EXIT.ok;
  } finally {
    await session.close();
  }
}

export interface ResetTerms {
  readonly name: string;
  readonly target: string;
  /** Do not ask. */
  readonly yes: boolean;
}

export async function reset({ name, target, yes }: ResetTerms, settings: Settings): Promise<number> {
  const session = newSession(settings);
  try {
    return await interruptible(async (signal) => {
      await session.connect(signal);
      const inspector = await session.hf.inspector();
      const limits = await inspector.limit(name, target);
      const question = `${whose(name, target)}: ${usedText(limits)}.\nForget it?`;
      if (!yes && limits.length > 0 && !(await confirmed(question, signal))) {
        note("left as it is");
        return EXIT.no;
      }
      const before = await inspector.resetLimit(name, target);
      if (settings.json) printLine(jsonOf({ name, target, before }));
      else printLine(`${whose(name, target)}: ${usedText(before)}${before.length > 0 ? ", now 0" : ""}`);
      return EXIT.ok;
    });
  } finally {
    await session.close();
  }
}

async function printTable(limits: readonly LimitState[]): Promise<void> {
  const ruler = await rulerFor(jsonOf(limits));
  for (const line of limitTable(limits, roomIn(host().stdout), colorsFor(host().stdout), ruler))
    printLine(line);
}

function whose(name: string, target: string): string {
  return `'${printable(name)}' for '${printable(target)}'`;
}

function byName(a: LimitState, b: LimitState): number {
  const [one, other] = [a, b].map(({ name, target, type }) => [name, target, type]) as [string[], string[]];
  const place = one.findIndex((text, at) => text !== other[at]);
  return place < 0 ? 0 : (one[place] as string) < (other[place] as string) ? -1 : 1;
}
