/** What a client rejects with, as an error of the catalogue. */
import { ServerError } from "../errors/refusals.js";
import { HoldfastError, IndeterminateError } from "../errors.js";

/** Redis answers errors as a word in capitals and a text; everything else is the client's own trouble. */
const SERVER_REPLY = /^[A-Z][A-Z0-9_]* /;

export function asHoldfastError(error: unknown, command: string | undefined): HoldfastError {
  if (error instanceof HoldfastError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (SERVER_REPLY.test(message)) return new ServerError(message, { cause: error });
  return new IndeterminateError(`${command} failed (${message})`, { cause: error });
}
