/** What a client rejects with, as an error of the catalogue. */
import { HoldfastError, IndeterminateError, ServerError } from "../errors.js";

/** Redis answers errors as a word in capitals and a text; everything else is the client's own trouble. */
const SERVER_REPLY = /^[A-Z][A-Z0-9_]* /;

/** A proxy's words for a connection to the server that broke under a call. */
const FROM_PROXY = /^ERR .*(timed? ?out|broken pipe|upstream|connection (reset|refused|closed))/i;

export function asHoldfastError(error: unknown, command: string | undefined): HoldfastError {
  if (error instanceof HoldfastError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (SERVER_REPLY.test(message) && !FROM_PROXY.test(message))
    return new ServerError(message, { cause: error });
  return new IndeterminateError(`${command} failed (${message})`, { cause: error });
}
