/** Lists in arguments, and how much of one is read: the same for queues and for lanes. */
import { checkOptions } from "../arguments.js";
import { InvalidArgumentError } from "../errors.js";
import { checkCount } from "./settings.js";

/** One script must not hold up the server for long. */
const MOST_BODIES = 500;
const MOST_BYTES = 1_048_576;
const MOST_LISTED = 1_000;

export interface CountOptions {
  readonly count?: number | undefined;
}

export const DEFAULT_PEEK = 10;
export const DEFAULT_LISTED = 100;

/** The number of messages to read. @throws {InvalidArgumentError} */
export function checkList(options: CountOptions, defaultCount: number): number {
  checkOptions("options", options, ["count"]);
  return checkCount("count", options.count ?? defaultCount, { most: MOST_LISTED });
}

/** Messages that are pushed all or none. @param check makes what is sent of one @throws {InvalidArgumentError} */
export function checkBatch<Given, Item>(
  argument: string,
  given: readonly Given[],
  check: (one: Given, argument: string) => Item,
  bodyOf: (item: Item) => string,
): Item[] {
  if (!Array.isArray(given)) throw new InvalidArgumentError(argument, "must be a list");
  if (given.length > MOST_BODIES)
    throw new InvalidArgumentError(argument, `must be at most ${MOST_BODIES}, not ${given.length}`);
  const items = Array.from(given as readonly Given[], (one, place) => check(one, `${argument}[${place}]`));
  const bytes = items.reduce((sum, item) => sum + Buffer.byteLength(bodyOf(item)), 0);
  if (bytes > MOST_BYTES)
    throw new InvalidArgumentError(
      argument,
      `must have at most 1 MiB (${MOST_BYTES} bytes) together as they are stored, not ${bytes}`,
    );
  return items;
}

/** The names of messages: ids or tickets. @throws {InvalidArgumentError} */
export function checkNames(
  argument: string,
  names: readonly string[],
  check: (name: string, argument: string) => string,
): readonly string[] {
  if (!Array.isArray(names)) throw new InvalidArgumentError(argument, `must be a list of ${argument}`);
  if (names.length > MOST_LISTED)
    throw new InvalidArgumentError(argument, `must be at most ${MOST_LISTED}, not ${names.length}`);
  return names.map((name: string, place) => check(name, `${argument}[${place}]`));
}
