/** What holdfast says of a server that a client cannot reach: the errors of calls, and a warning of the process. */
import { IndeterminateError, UnavailableError } from "../errors.js";
import { warn } from "../telemetry/warnings.js";
import type { ClientTrouble, RedisClient } from "./client.js";

type Told = Pick<RedisClient, "address">;

/** The clients of which the process was warned: one warning for each. */
const warned = new WeakSet<Told>();

/**
 * @param failure what the client answered last, where its state has no cause
 * @param outcome what became of the call
 */
export function unreachable(
  client: Told,
  trouble: ClientTrouble,
  failure: unknown,
  outcome?: string,
): UnavailableError {
  const { why, cause, remedy } = describe(client, trouble, failure);
  return new UnavailableError(why, { cause, remedy, passing: !trouble.rejects, ...(outcome && { outcome }) });
}

/** The error of a call that was sent, and had no answer in time. @param trouble why the client cannot reach the server now */
export function outOfTime(
  call: string | undefined,
  timeoutMs: number,
  trouble: ClientTrouble | null,
): IndeterminateError {
  const what = `no answer to ${call} within ${Math.round(timeoutMs)} ms`;
  if (!trouble) return new IndeterminateError(what);
  const { text, cause } = trouble;
  return new IndeterminateError(
    `${what}: ${text}${cause ? `: ${cause.message}` : ""}`,
    cause ? { cause } : undefined,
  );
}

/** Tells the operator of the process, because a call may wait for long before its error says so. */
export function warnOnce(client: Told, trouble: ClientTrouble, failure: unknown): void {
  if (warned.has(client)) return;
  warned.add(client);
  const { why, remedy } = describe(client, trouble, failure);
  const consequence = trouble.rejects ? "every call fails" : "calls wait until their time is up";
  warn("HOLDFAST_UNREACHABLE", `${why}: ${consequence}; ${remedy}`);
}

function describe(client: Told, trouble: ClientTrouble, failure: unknown) {
  const { text, rejects } = trouble;
  const cause = trouble.cause ?? failure ?? undefined;
  if (rejects) {
    const remedy =
      trouble.remedy ?? "pass a client that is open, and close holdfast before you close the client";
    return { why: trouble.cause ? `${text} (${reasonOf(trouble.cause)})` : text, cause, remedy };
  }
  const place = client.address ?? "the address of the client";
  // A client that keeps no commands meanwhile may only not be connected yet: of the server nothing is known.
  if (!trouble.cause && cause !== undefined) {
    const why = `no connection to ${place} (${reasonOf(cause)})`;
    return { why, cause, remedy: trouble.remedy ?? "try again when the client is connected" };
  }
  const why = `no Redis at ${place} (${cause === undefined ? text : reasonOf(cause)})`;
  return { why, cause, remedy: trouble.remedy ?? "start it there, or correct the address" };
}

/** One line. An error about several addresses of one host has no message of its own. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, code, errors } = error as Error & { code?: unknown; errors?: readonly unknown[] };
  if (message !== "") return message.split("\n", 1)[0] as string;
  if (Array.isArray(errors) && errors.length > 0) return errors.map(reasonOf).join(", ");
  return String(code ?? error.name);
}
