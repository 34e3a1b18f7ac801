/** Arguments are checked once, where they come in; whatever is further inside may rely on them. */
import { InvalidArgumentError } from "./errors.js";

const LONGEST_NAME = 512;

/** A lock may be named anything that keeps its keys distinct and in one cluster slot. */
export function checkLockName(name: unknown): string {
  if (typeof name !== "string") throw new InvalidArgumentError("name", `must be text, not ${typeof name}`);
  if (name === "") throw new InvalidArgumentError("name", "must not be empty");
  if (name.length > LONGEST_NAME) {
    throw new InvalidArgumentError(
      "name",
      `must have at most ${LONGEST_NAME} characters, not ${name.length}`,
    );
  }
  // An empty hash tag would scatter the keys of one lock over a cluster.
  if (name.startsWith("}")) throw new InvalidArgumentError("name", "must not begin with }");
  // In UTF-8 all lone surrogates become the same replacement character: two names, one lock.
  if (/\p{Surrogate}/u.test(name)) throw new InvalidArgumentError("name", "must be well-formed Unicode");
  return name;
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
