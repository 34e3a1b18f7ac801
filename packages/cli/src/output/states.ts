/** The state of things, as lines for people. */
import type { Detail, Kind, Named } from "../kinds/kind.js";
import { type Colors, jsonOf } from "./output.js";
import { tableOf } from "./table.js";
import { printable } from "./text.js";
import { type Ruler, rulerFor } from "./width.js";

const HEADING_WIDTH = 12;

interface Looks {
  readonly width: number;
  readonly colors: Colors;
  readonly ruler: Ruler;
}

/** For what the functions below say of these states. */
export function rulerForStates(states: readonly Named[]): Promise<Ruler> {
  return rulerFor(jsonOf(states));
}

/** One line each, under a head. */
export function stateTable<State extends Named>(
  kind: Kind<State>,
  states: readonly State[],
  { width, colors, ruler }: Looks,
): string[] {
  const rows = states.map((state) => kind.cells(state));
  const [head = "", ...lines] = tableOf(kind.columns, rows, width, ruler);
  const isIdle = (at: number): boolean => kind.isIdle(states[at] as State);
  return [colors.dim(head), ...lines.map((line, at) => (isIdle(at) ? colors.dim(line) : line))];
}

/** Everything about one. */
export function stateDetails<State extends Named>(kind: Kind<State>, state: State, looks: Looks): string[] {
  return headed(state.name, kind.details(state), looks);
}

/** A name, and under it each text with its heading. */
export function headed(name: string, details: readonly Detail[], { width, colors, ruler }: Looks): string[] {
  const rows = details.map(
    ([heading, text]) =>
      `  ${colors.dim(heading.padEnd(HEADING_WIDTH))}${ruler.clipped(text, width - HEADING_WIDTH - 2)}`,
  );
  return [colors.bold(ruler.clipped(printable(name), width)), ...rows];
}
