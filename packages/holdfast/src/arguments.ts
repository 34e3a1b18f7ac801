/** Arguments are checked once, where they come in; whatever is further inside may rely on them. */
import { InvalidArgumentError } from "./errors.js";

const LONGEST = 512;

/** A lock may be named anything that keeps its keys distinct and in one cluster slot. */
export function checkLockName(name: unknown): string {
  return checkWord("name", name);
}

/** So may limits, and whom they are for. */
export function checkWord(argument: string, word: unknown): string {
  if (typeof word !== "string") throw new InvalidArgumentError(argument, `must be text, not ${typeof word}`);
  if (word === "") throw new InvalidArgumentError(argument, "must not be empty");
  if (word.length > LONGEST) {
    throw new InvalidArgumentError(argument, `must have at most ${LONGEST} characters, not ${word.length}`);
  }
  // An empty hash tag would scatter the keys of one lock over a cluster.
  if (word.startsWith("}")) throw new InvalidArgumentError(argument, "must not begin with }");
  // In UTF-8 all lone surrogates become the same replacement character: two names, one lock.
  if (!word.isWellFormed()) throw new InvalidArgumentError(argument, "must be well-formed Unicode");
  return word;
}

/** Misspelt options are refused: one that is silently ignored is a lock with other terms. */
export function checkOptions(argument: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== "object" || options === null) {
    throw new InvalidArgumentError(argument, "must be an object");
  }
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) {
      throw new InvalidArgumentError(key, `is not an option here: use ${known.join(", ")}`);
    }
  }
}
