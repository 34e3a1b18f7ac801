/** Feed: messages from stdin, one a line, pushed while they come. */
import { EXIT } from "./exit-codes.js";
import { Failure } from "./failure.js";
import { host } from "./host.js";
import { stdinUntil } from "./input.js";
import { note, noteEvent } from "./output/output.js";
import { Progress } from "./output/progress.js";

export interface FeedSettings<Item> {
  readonly json: boolean;
  readonly signal: AbortSignal;
  /** Null: the line says nothing. @throws {Failure} it is no message */
  parse(line: Buffer): Item | null;
  /** All or none. Returns an id for each. */
  push(items: readonly Item[]): Promise<readonly string[]>;
}

export interface Fed {
  readonly pushed: number;
  readonly first: string | null;
  readonly last: string | null;
}

interface Group<Item> {
  readonly items: readonly Item[];
  /** The line of each, from 1. */
  readonly lines: readonly number[];
}

const NEWLINE = 10;
/** The library takes 1 MiB. */
const LONGEST_LINE = 2_000_000;
/** As many as one script takes. JSON may become longer when it is written anew, so the bytes stay far below its limit. */
const MOST_ITEMS = 500;
const MOST_BYTES = 131_072;

/** Pushes every line of stdin in its order. When it fails, it says on stderr how many were pushed. */
export async function feed<Item>(settings: FeedSettings<Item>): Promise<Fed> {
  const { json, signal, push } = settings;
  const progress = new Progress(host().stderr, !json);
  let fed: Fed = { pushed: 0, first: null, last: null };
  let sending: Group<Item> | null = null;
  try {
    for await (const group of groupsOf(settings)) {
      signal.throwIfAborted();
      sending = group;
      const [ids, refused] = await pushGroup(group, push);
      sending = null;
      fed = {
        pushed: fed.pushed + ids.length,
        first: fed.first ?? ids[0] ?? null,
        last: ids.at(-1) ?? fed.last,
      };
      if (refused) throw refused;
      progress.show(`${fed.pushed} pushed`);
    }
    return fed;
  } catch (error) {
    progress.end();
    const isUnknown = (error as { code?: unknown }).code === "INDETERMINATE";
    report(fed, isUnknown ? sending : null, json);
    signal.throwIfAborted();
    throw error;
  } finally {
    progress.end();
  }
}

function report<Item>({ pushed, first, last }: Fed, unknown: Group<Item> | null, json: boolean): void {
  const lines = unknown && [unknown.lines[0], unknown.lines.at(-1)];
  if (json) noteEvent({ event: "pushed", pushed, first, last, unknownLines: lines });
  else if (pushed > 0)
    note(`${pushed} ${pushed === 1 ? "message was" : "messages were"} pushed, the last one as ${last}`);
  if (!json && lines) note(`whether lines ${lines[0]} to ${lines[1]} were pushed is unknown`);
}

/** Pushes the items before the first that is refused for what it is. Returns their ids, and that refusal. */
async function pushGroup<Item>(
  { items, lines }: Group<Item>,
  push: FeedSettings<Item>["push"],
): Promise<readonly [ids: readonly string[], refused: Failure | null]> {
  try {
    return [await push(items), null];
  } catch (error) {
    const { argument = "", message } = error as { argument?: string; message: string };
    const place = Number(/^\w+\[(\d+)\]/.exec(argument)?.[1] ?? Number.NaN);
    const line = lines[place];
    if (line === undefined) throw error;
    const refused = new Failure("USAGE", EXIT.usage, `line ${line}: ${message.replace(argument, "BODY")}`);
    return [place > 0 ? await push(items.slice(0, place)) : [], refused];
  }
}

/** A group ends where no more can be read at once, so that a slow writer's lines do not wait for the next ones. */
async function* groupsOf<Item>({
  parse,
  signal,
}: FeedSettings<Item>): AsyncGenerator<Group<Item>, void, undefined> {
  let number = 0;
  for await (const lines of linesOf(stdinUntil(signal))) {
    let [items, numbers]: [Item[], number[]] = [[], []];
    let bytes = 0;
    for (const line of lines) {
      number += 1;
      const item = numbered(number, () => parse(line));
      if ("failure" in item) {
        if (items.length > 0) yield { items, lines: numbers };
        throw item.failure;
      }
      if (items.length === MOST_ITEMS || (items.length > 0 && bytes + line.length > MOST_BYTES)) {
        yield { items, lines: numbers };
        [items, numbers, bytes] = [[], [], 0];
      }
      if (item.value === null) continue;
      items.push(item.value);
      numbers.push(number);
      bytes += line.length;
    }
    if (items.length > 0) yield { items, lines: numbers };
  }
}

function numbered<Value>(
  number: number,
  parse: () => Value,
): { readonly value: Value } | { readonly failure: Failure } {
  try {
    return { value: parse() };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { failure: new Failure(error.code, error.exitCode, `line ${number}: ${error.message}`) };
  }
}

/** The lines that came together; the last one needs no line break. */
async function* linesOf(input: AsyncIterable<Buffer>): AsyncGenerator<readonly Buffer[], void, undefined> {
  let rest: Buffer[] = [];
  let size = 0;
  for await (const chunk of input) {
    const lines: Buffer[] = [];
    let bytes = chunk;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE)) {
      lines.push(Buffer.concat([...rest, bytes.subarray(0, at)]));
      [rest, size] = [[], 0];
      bytes = bytes.subarray(at + 1);
    }
    if (bytes.length > 0) rest.push(bytes);
    size += bytes.length;
    if (lines.length > 0) yield lines;
    if (size > LONGEST_LINE) throw new Failure("USAGE", EXIT.usage, "a line of stdin has more than 1 MiB");
  }
  if (size > 0) yield [Buffer.concat(rest)];
}
