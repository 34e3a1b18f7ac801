/** The value that a user gives to a command, as an argument or through stdin. */
import { EXIT } from "./exit-codes.js";
import { Failure } from "./failure.js";
import { host } from "./host.js";
import { nextTurn } from "./time.js";

/** How the value is to be understood. */
export type ValueForm = "json" | "text" | "bytes";

/** The library takes 1 MiB. Without a bound, an endless pipe would fill the memory. */
const MOST_BYTES = 2_000_000;

/**
 * @param value "-" for stdin
 * @param signal ends the reading: half a value is none
 * @param what the argument, as the help calls it
 * @throws the reason of `signal`
 */
export async function readValue(
  value: string,
  form: ValueForm,
  signal: AbortSignal,
  what = "VALUE",
): Promise<unknown> {
  const bytes = value === "-" ? await readStdin(signal) : Buffer.from(value);
  return parseValue(bytes, form, what);
}

/** @throws {Failure} it is not what `form` says */
export function parseValue(bytes: Buffer, form: ValueForm, what = "VALUE"): unknown {
  return form === "bytes" ? new Uint8Array(bytes) : parsed(textOf(bytes, what), form, what);
}

async function readStdin(signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdinUntil(signal)) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > MOST_BYTES) throw usage("stdin has more than 1 MiB");
  }
  return Buffer.concat(chunks);
}

/** Who writes to stdin is often ended by the same signal, so that the end of stdin may be a part of the abort. @throws its reason */
export async function* stdinUntil(signal: AbortSignal): AsyncGenerator<Buffer, void, undefined> {
  const { stdin } = host();
  const end = (): void => void stdin.destroy();
  signal.addEventListener("abort", end, { once: true });
  try {
    signal.throwIfAborted();
    yield* stdin as AsyncIterable<Buffer>;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", end);
  }
  // The signal, and what ended the writer, may come in any order.
  await nextTurn();
  signal.throwIfAborted();
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

/** A number that its readers would change without a word. */
function longNumberIn(json: string): string | null {
  const outside = json.replaceAll(/"(?:[^"\\]|\\.)*"/gs, '""');
  const numbers = outside.match(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g) ?? [];
  return numbers.find((number) => !isKept(number)) ?? null;
}

/** Whether the number that JSON makes of it is written with the same digits, or with more zeros. */
function isKept(number: string): boolean {
  return Number.isFinite(Number(number)) && decimalOf(number) === decimalOf(String(Number(number)));
}

/** The digits of a number without the zeros around them, and the place of the first: 0.0120 and 12e-3 are alike. */
function decimalOf(number: string): string {
  const [, sign = "", whole = "", part = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = (whole + part).replace(/^0+/, "");
  const first = whole.length + Number(exponent) - (whole.length + part.length - digits.length);
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  return end === 0 ? "0" : `${sign}${digits.slice(0, end)}e${first}`;
}

function usage(message: string): Failure {
  return new Failure("USAGE", EXIT.usage, message);
}
