/** `holdfast event get`, `set`, `clear` and `wait`. */
import { EXIT } from "../exit-codes.js";
import { host } from "../host.js";
import { readValue, type ValueForm } from "../input.js";
import { jsonOf, note, printLine } from "../output/output.js";
import { printable } from "../output/text.js";
import { rawValue, shownValue, valueText } from "../output/values.js";
import { withSession } from "../session.js";
import type { Settings } from "../settings.js";

export interface GetTerms {
  readonly name: string;
  /** Only the data. */
  readonly raw: boolean;
}

/** @returns 1 when it is not set */
export function get({ name, raw }: GetTerms, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }) => {
    const { isSet, version, data } = await hf.event(name).get();
    if (settings.json) {
      const shown = data === undefined ? null : shownValue(data);
      printLine(jsonOf({ name, set: isSet, version, ...shown }));
    } else if (raw) printRaw(data);
    else if (version === 0n) printLine("never set");
    else {
      const carried = data === undefined ? "" : `: ${valueText(data)}`;
      printLine(`${isSet ? "set" : "not set"}, version ${version}${carried}`);
    }
    return isSet ? EXIT.ok : EXIT.no;
  });
}

function printRaw(data: unknown): void {
  if (data !== undefined) host().stdout.write(rawValue(data, host().stdout.isTTY === true));
}

export interface SetTerms {
  readonly name: string;
  /** "-" for stdin. */
  readonly data: string | undefined;
  readonly form: ValueForm;
}

export function set({ name, data, form }: SetTerms, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }, signal) => {
    const value = data === undefined ? undefined : await readValue(data, form, signal, "DATA");
    const { version } = await hf.event(name).set(value);
    printLine(settings.json ? jsonOf({ name, version }) : String(version));
    return EXIT.ok;
  });
}

export function clear(name: string, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }) => {
    const { version } = await hf.event(name).clear();
    printLine(settings.json ? jsonOf({ name, version }) : String(version));
    return EXIT.ok;
  });
}

export interface WaitTerms {
  readonly name: string;
  readonly waitMs: number;
  readonly after: bigint | undefined;
  readonly raw: boolean;
}

/** @returns 75 when the time is over. */
export function wait({ name, waitMs, after, raw }: WaitTerms, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }, signal) => {
    const found = await hf.event(name).wait({ wait: waitMs, after, signal });
    if (settings.json) {
      const data = found?.data === undefined ? null : shownValue(found.data);
      printLine(jsonOf({ name, set: found !== null, version: found?.version ?? null, ...data }));
    } else if (!found) note(`'${printable(name)}' was not set in time`);
    else if (raw) printRaw(found.data);
    else if (found.data !== undefined) printLine(valueText(found.data));
    return found ? EXIT.ok : EXIT.busy;
  });
}
