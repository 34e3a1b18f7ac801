/**
 * The examination behind `hf.doctor()`: looks at the server, the network and the client, and reports what
 * puts locks at risk. It makes a few harmless calls, on keys of a name that nobody else has, and changes nothing.
 */
import { type HoldfastError, ServerError, UnavailableError } from "../errors.js";
import type { RedisContext } from "../redis/context.js";
import { checkClient } from "./client-options.js";
import { type ClockReading, checkClock, readClock } from "./clock-offset.js";
import { channelsOf, checkPermissions } from "./permissions.js";
import { checkReplica } from "./replica.js";
import { type DoctorReport, type Finding, reportOf } from "./report.js";
import { checkServer, factsOf } from "./server-checks.js";
import { readServer } from "./server-state.js";
import { checkStorage } from "./storage-checks.js";
import { checkWakeUps } from "./wake-ups.js";

export interface DoctorTarget {
  /** What was given to `new Holdfast()`. */
  readonly client: unknown;
  readonly context: Pick<
    RedisContext,
    "port" | "replica" | "prefix" | "callTimeoutMs" | "schedule" | "random"
  >;
}

/** Never rejects for what it finds, an unreachable server included. */
export async function examine({ client, context }: DoctorTarget): Promise<DoctorReport> {
  const { port, prefix, callTimeoutMs, schedule, random } = context;
  const { clock } = schedule;
  const ofClient = checkClient(client, callTimeoutMs);
  // This measures times, so no other call runs beside it.
  const reading = await readClock(port, clock, callTimeoutMs).catch((error: HoldfastError) => error);
  if (reading instanceof Error && !(reading instanceof ServerError)) {
    const nothing = { info: null, config: null, infoError: null, configError: null };
    return reportOf(factsOf(nothing, clockwork(null)), [unreachable(reading), ...ofClient]);
  }
  const read = reading instanceof Error ? null : reading;
  const name = `doctor-${random.id()}`;
  const [state, permissions, wakeUps] = await Promise.all([
    readServer(port, callTimeoutMs),
    checkPermissions(port, prefix, name, callTimeoutMs),
    checkWakeUps(port, clock, channelsOf(prefix, name), callTimeoutMs),
  ]);
  const ofReplica = context.replica
    ? await checkReplica(state.info, context.replica.port, callTimeoutMs)
    : [];
  const facts = factsOf(state, clockwork(read));
  return reportOf(facts, [
    ...checkServer(state, facts),
    ...checkStorage(state, facts),
    // A replica refuses writes: the finding about its role says so already.
    ...permissions.filter(
      ({ code, found }) => facts.role !== "replica" || code !== "refused" || !/READONLY/.test(found),
    ),
    ...wakeUps,
    ...ofReplica,
    ...(read ? checkClock(read, callTimeoutMs) : []),
    ...ofClient,
  ]);
}

function clockwork(reading: ClockReading | null) {
  // Never -0, which JSON does not know.
  const rounded = (ms: number | undefined): number | null =>
    ms === undefined ? null : Math.round(ms * 100) / 100 + 0;
  return {
    roundTripMs: rounded(reading?.roundTripMs),
    clockOffsetMs: rounded(reading?.offsetMs),
    clockUncertaintyMs: rounded(reading?.uncertaintyMs),
  };
}

function unreachable(error: HoldfastError): Finding {
  return {
    code: "unreachable",
    severity: "error",
    found: error instanceof UnavailableError ? error.message : `the server does not answer: ${error.message}`,
    consequence: "No lock can be taken, and those that are held end with their leases.",
    remedy: "Look at the address, the network and the server. Nothing else could be looked at.",
  };
}
