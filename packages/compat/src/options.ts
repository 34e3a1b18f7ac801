/** Checks of the arguments that the shapes share. */
import { InvalidArgumentError } from "holdfast";

const LONGEST_TEXT = 512;

/** A misspelt option is refused, because it would be ignored silently. @throws {InvalidArgumentError} */
export function checkOptions(argument: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== "object" || options === null)
    throw new InvalidArgumentError(argument, "must be an object");
  for (const key of Object.keys(options))
    if (!known.includes(key))
      throw new InvalidArgumentError(key, `is not an option here: use ${known.join(", ")}`);
}

/** A text that can be the name of a limit. @throws {InvalidArgumentError} */
export function checkText(argument: string, text: unknown): void {
  if (typeof text !== "string") throw new InvalidArgumentError(argument, `must be text, not ${typeof text}`);
  if (text === "" || text.length > LONGEST_TEXT || text.startsWith("}") || !text.isWellFormed())
    throw new InvalidArgumentError(
      argument,
      `must be well-formed text of 1 to ${LONGEST_TEXT} characters that does not begin with }`,
    );
}
