/** What the rejection of a client means, as an error of the catalogue. */
import { HoldfastError, IndeterminateError, ServerError } from "../errors.js";

/** Redis writes an error as a word in capitals and a text. Any other error is the client's own. */
const SERVER_REPLY = /^[A-Z][A-Z0-9_]* /;
/** Errors by which a proxy reports that its connection to the server broke during a call. */
const FROM_PROXY = /^ERR .*(timed? ?out|broken pipe|upstream|connection (reset|refused|closed))/i;

/** The reason for which a client rejected a call. */
export function asHoldfastError(error: unknown, command: string | undefined): HoldfastError {
  if (error instanceof HoldfastError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (SERVER_REPLY.test(message) && !FROM_PROXY.test(message))
    return new ServerError(message, { cause: error });
  return new IndeterminateError(`${command} failed (${message})`, { cause: error });
}

/** A client may send a call again after a break: the refusal is of the copy, and the first may have been carried out. */
export function refusedAgain(command: string | undefined, cause: ServerError): IndeterminateError {
  const what = `${command} was sent, the connection broke, and a copy of it was refused with ${cause.serverCode}`;
  return new IndeterminateError(what, { cause });
}

/** The same of an answer which tells what its own run did: it may be that of the copy. */
export function ranAgain(command: string | undefined): IndeterminateError {
  return new IndeterminateError(
    `${command} was sent, the connection broke, and the answer may be that of a copy of it`,
  );
}
