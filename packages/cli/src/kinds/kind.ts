/** Kind: what `ls`, `show` and `watch` must know of a noun. Each noun has a file in this folder. */
import type { Inspector } from "holdfast";
import type { Column } from "../output/table.js";

export interface Named {
  readonly name: string;
}

/** A heading, and the text behind it. A row without a heading continues the one before. */
export type Detail = readonly [heading: string, text: string];

export interface Kind<State extends Named> {
  /** As after `--kind`. */
  readonly name: string;
  /** The member of the document of `ls --json`. */
  readonly plural: string;
  /** Said when the list is empty. */
  readonly none: string;
  readonly columns: readonly Column[];
  /** @param all also those that `ls` leaves out without `--all` */
  list(inspector: Inspector, pattern: string, all: boolean): AsyncIterable<State>;
  look(inspector: Inspector, name: string): Promise<State>;
  /** The texts of a row of `ls`, fit for a terminal. */
  cells(state: State): readonly string[];
  /** Whether its row is shown faintly. */
  isIdle(state: State): boolean;
  /** The lines of `show` under the name, fit for a terminal. */
  details(state: State): readonly Detail[];
  /** One line over the table of `watch`. */
  sum(states: readonly State[]): string;
  /** The event of `watch` between two looks, in one word; null: nothing that matters has changed. */
  changeOf(before: State | undefined, now: State): string | null;
  /** The line of that event after the name, fit for a terminal. */
  told(event: string, state: State): string;
  /** The event and the state when the list has it no more; null: that needs no line. */
  gone(before: State): { readonly event: string; readonly state: State } | null;
}
