/** Finds names by the keys that carry them, in small steps, so that the server serves others between two of them. */
import { ServerError } from "../errors.js";
import type { RedisContext } from "./context.js";
import { synchronizerNameOf } from "./keys.js";
import { escapePattern, matcherOf } from "./pattern.js";
import type { RedisPort } from "./port.js";
import { replyRow } from "./reply.js";
import { bySlot } from "./slots.js";

/** Keys that one SCAN looks at. */
const SCAN_COUNT = 1_000;
/** Objects that one script reads: few enough for the server to serve others in between. */
const CHUNK = 50;

export interface Search<Name, State> {
  /** Pattern of the keys, without what a client puts before every key. */
  readonly match: string;
  /** The name in a key; null for a key of another program, or one that is not meant. */
  readonly parse: (key: string) => Name | null;
  readonly keyOf: (name: Name) => string;
  /** Reads some, all in one slot. Those with an error are left out: another program owns a key, or it is of another layout. */
  readonly look: (names: readonly Name[]) => Promise<readonly (State | ServerError)[]>;
}

/** Yields the state of everything that the search finds, in no order, each as it is when it is read. */
export async function* lookAtAll<Name, State>(
  port: RedisPort,
  { match, parse, keyOf, look }: Search<Name, State>,
  timeoutMs: number,
): AsyncGenerator<State, void, undefined> {
  for await (const names of scanNames(port, match, parse, timeoutMs)) {
    for (let start = 0; start < names.length; start += CHUNK)
      for (const state of await bySlot(port, names.slice(start, start + CHUNK), keyOf, look))
        if (!(state instanceof ServerError)) yield state;
  }
}

/** Yields the state of each name that matches and has the key of this noun, in no order. */
export async function* lookAtNames<State>(
  { port, prefix, callTimeoutMs }: Pick<RedisContext, "port" | "prefix" | "callTimeoutMs">,
  noun: string,
  pattern: string,
  look: (names: readonly string[]) => Promise<readonly (State | ServerError)[]>,
): AsyncGenerator<State, void, undefined> {
  const isMeant = matcherOf(pattern);
  const search: Search<string, State> = {
    match: `${escapePattern(prefix)}:{${pattern}}:${noun}`,
    parse: (key) => {
      const name = synchronizerNameOf(prefix, noun, key);
      return name !== null && isMeant(name) ? name : null;
    },
    keyOf: (name) => `${prefix}:{${name}}:${noun}`,
    look,
  };
  yield* lookAtAll(port, search, callTimeoutMs);
}

/**
 * Yields the names of the keys that match, each key once.
 * @param parse the name in a key; null for a key of another program
 */
async function* scanNames<Name>(
  port: RedisPort,
  match: string,
  parse: (key: string) => Name | null,
  timeoutMs: number,
): AsyncGenerator<Name[], void> {
  const found = new Set<string>();
  let cursor = "0";
  do {
    // The client may put a prefix of its own before every key; the parser tells which keys are holdfast's.
    const args = ["SCAN", cursor, "MATCH", `*${match}`, "COUNT", String(SCAN_COUNT)];
    const [next, reply] = replyRow(await port.command(args, timeoutMs), 2);
    cursor = String(next);
    const keys = Array.isArray(reply) ? reply.map(String) : [];
    // SCAN may return a key twice.
    const fresh = keys.filter((key) => !found.has(key) && found.add(key));
    const names = fresh.map(parse).filter((name) => name !== null);
    if (names.length > 0) yield names;
  } while (cursor !== "0");
}
