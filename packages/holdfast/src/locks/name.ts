/** What may be the name of a lock: anything that keeps its keys in one cluster slot and distinct. */
import { InvalidArgumentError } from "../errors.js";

const LONGEST_NAME = 512;

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
