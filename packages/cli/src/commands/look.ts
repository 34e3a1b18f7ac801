/** `holdfast ls` and `holdfast show`: locks and other things that processes share, at this moment. */
import { EXIT } from "../exit-codes.js";
import { host } from "../host.js";
import { interruptible } from "../interrupt.js";
import type { Named } from "../kinds/kind.js";
import { kindOf } from "../kinds/kinds.js";
import type { KindName } from "../kinds/names.js";
import { newLockHome, silencesOf } from "../lock-home.js";
import { colorsFor, jsonOf, note, printLine } from "../output/output.js";
import { rulerForStates, stateDetails, stateTable } from "../output/states.js";
import { printable } from "../output/text.js";
import type { Settings } from "../settings.js";

export interface ListTerms {
  readonly kind: KindName;
  readonly pattern: string;
  /** Also those that are not in use now. */
  readonly all: boolean;
}

export async function list(terms: ListTerms, settings: Settings): Promise<number> {
  const kind = kindOf(terms.kind);
  const home = newLockHome(settings, "", terms.kind);
  try {
    const { states, nodes } = await interruptible(async (signal) => {
      await home.connect(signal);
      const inspector = await home.inspector();
      const found: Named[] = [];
      for await (const state of kind.list(inspector, terms.pattern, terms.all)) {
        signal.throwIfAborted();
        found.push(state);
      }
      return { states: found.sort(byName), nodes: await home.nodes() };
    });
    if (!settings.json) for (const silence of silencesOf(nodes)) note(printable(silence));
    if (settings.json) printLine(jsonOf({ [kind.plural]: states, ...(nodes && { nodes }) }));
    else if (states.length === 0) note(kind.none);
    else {
      const looks = await looksFor(states);
      for (const line of stateTable(kind, states, looks)) printLine(line);
    }
    return EXIT.ok;
  } finally {
    await home.close();
  }
}

export async function show(kindName: KindName, name: string, settings: Settings): Promise<number> {
  const kind = kindOf(kindName);
  const home = newLockHome(settings, "", kindName);
  try {
    const { state, nodes } = await interruptible(async (signal) => {
      await home.connect(signal);
      return { state: await kind.look(await home.inspector(), name), nodes: await home.nodes() };
    });
    if (!settings.json) for (const silence of silencesOf(nodes)) note(printable(silence));
    if (settings.json) printLine(jsonOf({ ...state, ...(nodes && { nodes }) }));
    else {
      const looks = await looksFor([state]);
      for (const line of stateDetails(kind, state, looks)) printLine(line);
    }
    return EXIT.ok;
  } finally {
    await home.close();
  }
}

async function looksFor(states: readonly Named[]) {
  return {
    width: roomIn(host().stdout),
    colors: colorsFor(host().stdout),
    ruler: await rulerForStates(states),
  };
}

export function byName(a: Named, b: Named): number {
  return a.name < b.name ? -1 : 1;
}

/** A pipe has room for all. */
export function roomIn(stream: NodeJS.WriteStream): number {
  return stream.isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY;
}
