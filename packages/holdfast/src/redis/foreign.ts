/** Values under the keys of holdfast that this version does not read: another version wrote them, or another program. */
import { ServerError } from "../errors.js";
import type { Reply } from "./port.js";
import { replyRow } from "./reply.js";

/** What lua/_foreign.lua raises for such a value. */
export function foreign(key: string, value?: unknown, cause?: unknown): ServerError {
  const [, layout] = /^@(\d+) /.exec(String(value)) ?? [];
  const problem = layout
    ? `LAYOUT ${key} has layout ${layout}, and this version reads layout 1`
    : `WRONGTYPE another program owns the key ${key}`;
  return new ServerError(problem, { cause });
}

/** The error of one name among several; one of the call is thrown again. */
export function errorOfOne(error: unknown): ServerError {
  if (error instanceof ServerError && ["WRONGTYPE", "LAYOUT"].includes(error.serverCode)) return error;
  throw error;
}

/** What a script read of one name, or the text by which it says why it did not. */
export function readRow<State>(row: Reply | undefined, read: (row: Reply[]) => State): State | ServerError {
  return typeof row === "string" ? new ServerError(row) : read(replyRow(row, 0));
}

/** The state of the one name that was asked for. @throws {ServerError} it is not holdfast's, or of another layout */
export function readState<State>([state]: readonly (State | ServerError)[]): State {
  if (state instanceof ServerError) throw state;
  return state as State;
}
