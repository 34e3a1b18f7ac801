/** Where words go: results to stdout, everything else to stderr, plain or as JSON. */
import { createColors } from "picocolors";
import { codeOf, exitCodeOf, toldOf } from "../failure.js";

export type Colors = ReturnType<typeof createColors>;

/** Colours for a terminal whose user has not declined them: https://no-color.org */
export function colorsFor(stream: NodeJS.WriteStream): Colors {
  const { NO_COLOR, TERM } = process.env;
  return createColors(stream.isTTY === true && !NO_COLOR && TERM !== "dumb");
}

/** One JSON document on one line. A token is a string: as a number it would lose digits in many readers. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_, member) => (typeof member === "bigint" ? String(member) : member));
}

export function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** For people, beside the result. */
export function note(text: string): void {
  process.stderr.write(`holdfast: ${text}\n`);
}

/** An event of a command whose stdout is not its own. */
export function noteEvent(event: Readonly<Record<string, unknown>>): void {
  process.stderr.write(`${jsonOf(event)}\n`);
}

export function reportFailure(error: unknown, json: boolean): void {
  if (json) {
    const exitCode = exitCodeOf(error);
    noteEvent({
      event: "error",
      code: codeOf(error),
      exitCode,
      message: toldOf(error),
    });
  } else note(toldOf(error));
}
