/** `holdfast signal emit` and `wait`. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Heard, Holdfast } from "holdfast";
import { EXIT } from "../exit-codes.js";
import { host } from "../host.js";
import { readValue, type ValueForm } from "../input.js";
import { jsonOf, note, noteEvent, printLine } from "../output/output.js";
import { printable } from "../output/text.js";
import { rawValue, shownValue, valueText } from "../output/values.js";
import { withSession } from "../session.js";
import type { Settings } from "../settings.js";
import { nowText } from "../time.js";

export interface EmitTerms {
  readonly name: string;
  /** "-" for stdin. */
  readonly data: string | undefined;
  readonly form: ValueForm;
  readonly isOne: boolean;
}

/** @returns 1 when `--one` found nobody */
export function emit({ name, data, form, isOne }: EmitTerms, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }, abort) => {
    const value = data === undefined ? undefined : await readValue(data, form, abort, "DATA");
    const signal = hf.signal(name);
    const heard = isOne ? Number(await signal.emitOne(value)) : await signal.emit(value);
    if (settings.json) printLine(jsonOf({ name, heard }));
    else if (isOne && heard === 0) note(`nobody waits for '${printable(name)}'`);
    else printLine(String(heard));
    return isOne && heard === 0 ? EXIT.no : EXIT.ok;
  });
}

export interface WaitTerms {
  readonly names: readonly string[];
  readonly how: "any" | "all" | "matching";
  readonly waitMs: number;
  readonly raw: boolean;
}

/** @returns 75 when no signal came in time */
export function wait(terms: WaitTerms, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }, signal) => {
    const tell = (): void => {
      if (settings.json) noteEvent({ at: nowText(), event: "waiting", names: terms.names });
      else if (host().stderr.isTTY) note("waiting");
    };
    subscribe("holdfast:signal:waiting", tell);
    try {
      const heard = await heardBy(hf, terms, signal);
      print(heard, terms, settings);
      return heard.length > 0 ? EXIT.ok : EXIT.busy;
    } finally {
      unsubscribe("holdfast:signal:waiting", tell);
    }
  });
}

async function heardBy(
  hf: Holdfast,
  { names, how, waitMs }: WaitTerms,
  signal: AbortSignal,
): Promise<readonly Heard[]> {
  const options = { wait: waitMs, signal };
  if (how === "all") return (await hf.signals.all(names, options)) ?? [];
  const [first = ""] = names;
  const waiting =
    how === "matching" ? hf.signals.matching(first).wait(options) : hf.signals.any(names, options);
  const heard = await waiting;
  return heard ? [heard] : [];
}

function print(heard: readonly Heard[], { names, how, raw }: WaitTerms, settings: Settings): void {
  if (settings.json) {
    const signals = heard.map(({ name, data }) => ({
      name,
      hasData: data !== undefined,
      ...shownValue(data ?? null),
    }));
    printLine(jsonOf({ heard: heard.length > 0, signals }));
    return;
  }
  if (heard.length === 0) note("no signal came in time");
  // With one name it is known which signal it was.
  const isNamed = names.length > 1 || how === "matching";
  for (const { name, data } of heard) {
    if (raw) host().stdout.write(data === undefined ? "" : rawValue(data, host().stdout.isTTY === true));
    else {
      const text = data === undefined ? "" : valueText(data);
      printLine(isNamed ? `${printable(name)} ${text}`.trimEnd() : text);
    }
  }
}
