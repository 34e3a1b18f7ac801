/** The value that a user gives to a command, as an argument or through stdin. */
import { EXIT } from "./exit-codes.js";
import { Failure } from "./failure.js";
import { host } from "./host.js";

/** How the value is to be understood. */
export type ValueForm = "json" | "text" | "bytes";

/** The library takes 1 MiB. Without a bound, an endless pipe would fill the memory. */
const MOST_BYTES = 2_000_000;

/**
 * @param value "-" for stdin
 * @param what the argument, as the help calls it
 */
export async function readValue(value: string, form: ValueForm, what = "VALUE"): Promise<unknown> {
  const bytes = value === "-" ? await readStdin() : Buffer.from(value);
  return parseValue(bytes, form, what);
}

/** @throws {Failure} it is not what `form` says */
export function parseValue(bytes: Buffer, form: ValueForm, what = "VALUE"): unknown {
  return form === "bytes" ? new Uint8Array(bytes) : parsed(textOf(bytes, what), form, what);
}

async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of host().stdin) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > MOST_BYTES) throw usage("stdin has more than 1 MiB");
  }
  return Buffer.concat(chunks);
}

function textOf(bytes: Buffer, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw usage(`${what} is not UTF-8`);
  }
}

function parsed(text: string, form: "json" | "text", what: string): unknown {
  if (form === "text") return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw usage(`${what} is not JSON (${(error as Error).message}): correct it, or add --text`);
  }
  const number = longNumberIn(text);
  if (number !== null) throw usage(`${what} has a number that JSON would round: put ${number} in quotes`);
  return value;
}

/** A whole number that its readers would change without a word. */
function longNumberIn(json: string): string | null {
  const outside = json.replaceAll(/"(?:[^"\\]|\\.)*"/gs, '""');
  const numbers = outside.match(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g) ?? [];
  return numbers.find((number) => /^-?\d+$/.test(number) && !Number.isSafeInteger(Number(number))) ?? null;
}

function usage(message: string): Failure {
  return new Failure("USAGE", EXIT.usage, message);
}
