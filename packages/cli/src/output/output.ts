/** Where words go: results to stdout, everything else to stderr, plain or as JSON. */
import { createColors } from "picocolors";
import { EXIT, type Exit } from "../exit-codes.js";
import { codeOf, exitCodeOf, Failure, toldOf } from "../failure.js";
import { host } from "../host.js";
import { Interrupted } from "../interrupt.js";
import { printable, printableJson } from "./text.js";

export type Colors = ReturnType<typeof createColors>;

/** Colours for a terminal whose user has not declined them: https://no-color.org */
export function colorsFor(stream: NodeJS.WriteStream): Colors {
  const { NO_COLOR, TERM } = process.env;
  return createColors(stream.isTTY === true && !NO_COLOR && TERM !== "dumb");
}

/** One JSON document on one line. A token is a string: as a number it would lose digits in many readers. */
export function jsonOf(value: unknown): string {
  return printableJson(
    JSON.stringify(value, (_, member) => (typeof member === "bigint" ? String(member) : member)),
  );
}

export function printLine(text: string): void {
  host().stdout.write(`${text}\n`);
}

/**
 * What was printed before has gone to its reader, or to the pipe that leads there.
 * @param signal ends the wait for a reader @throws its reason @throws {Failure} 74: it was not written
 */
export function printed(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    host().stdout.write("", (error: NodeJS.ErrnoException | null | undefined) => {
      if (!error) resolve();
      else {
        const why = error.code === "EPIPE" ? "nobody reads the output" : "the output was not written";
        reject(new Failure("OUTPUT", EXIT.output, why));
      }
    });
  });
}

/** Prints a note for people to stderr, on one line, because the text may quote foreign text with line breaks. */
export function note(text: string): void {
  host().stderr.write(`holdfast: ${printable(text)}\n`);
}

/** Prints the stack of an unexpected error, for those who fix this program. */
function noteStack(stack: string): void {
  host().stderr.write(`holdfast: ${stack.split("\n").map(printable).join("\n")}\n`);
}

/** An event of a command whose stdout is not its own. */
export function noteEvent(event: Readonly<Record<string, unknown>>): void {
  host().stderr.write(`${jsonOf(event)}\n`);
}

/** Tells what failed, and returns how that ends the command. */
export function reportFailure(error: unknown, json: boolean): Exit {
  const exitCode = exitCodeOf(error);
  if (json) noteEvent({ event: "error", code: codeOf(error), exitCode, message: toldOf(error) });
  else if (exitCode === EXIT.broken) noteStack(toldOf(error));
  else note(toldOf(error));
  return error instanceof Interrupted ? error.signal : exitCode;
}
