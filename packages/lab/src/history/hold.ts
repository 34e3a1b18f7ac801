/** The time in which somebody held something, as its history tells it. */
import type { Operation } from "./operation.js";
import type { Span } from "./span.js";

export interface Hold extends Span {
  readonly operation: Operation;
}

export interface HoldOptions {
  /** When processes died, by name: the dead hold nothing. */
  readonly deathsMs?: ReadonlyMap<string, number>;
}

/**
 * The holds of one key: its "hold" operations, or, where it has none, what follows from each "acquire" that was granted:
 * from its return until `endMs`; without that, until the earliest of `validUntilMs` and the beginning of the next release
 * of the same process; without these, for ever.
 *
 * An acquire that never returned, or of unknown outcome, is nobody's hold: nobody acts on it.
 */
export function holdsOf(operations: readonly Operation[], { deathsMs }: HoldOptions = {}): Hold[] {
  const said = operations.filter(({ f, type }) => f === "hold" && type !== "fail");
  const hold = (operation: Operation, fromMs: number, toMs: number): Hold => {
    const deathMs = deathsMs?.get(operation.process) ?? Infinity;
    return { operation, fromMs, toMs: Math.max(fromMs, Math.min(toMs, deathMs)) };
  };
  if (said.length > 0) return said.map((one) => hold(one, one.invMs, saidEndMs(one, one.retMs)));
  const releases = nextReleases(operations);
  return operations
    .filter(({ f, type, retMs }) => f === "acquire" && type === "ok" && retMs !== null)
    .map((one) => hold(one, one.retMs!, saidEndMs(one, releases.get(one)?.invMs ?? null)));
}

function saidEndMs({ endMs, validUntilMs }: Operation, otherwiseMs: number | null): number {
  return endMs ?? Math.min(validUntilMs ?? Infinity, otherwiseMs ?? Infinity);
}

/** The first release that each acquire's process began after it. */
export function nextReleases(operations: readonly Operation[]): Map<Operation, Operation> {
  const next = new Map<Operation, Operation>();
  if (!operations.some(({ f }) => f === "release")) return next;
  const latest = new Map<string, Operation>();
  const backwards = operations
    .filter(({ f }) => f === "acquire" || f === "release")
    .sort((a, b) => b.seq - a.seq);
  for (const operation of backwards) {
    if (operation.f === "release") latest.set(operation.process, operation);
    const release = latest.get(operation.process);
    if (operation.f === "acquire" && release) next.set(operation, release);
  }
  return next;
}
