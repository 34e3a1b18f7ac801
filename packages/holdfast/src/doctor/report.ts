/** What `hf.doctor()` returns: plain data, ready for JSON. */

/**
 * - `error`: locks cannot be taken, or can be lost while the server runs as it is meant to
 * - `warning`: locks can be lost, or are slow, when something fails
 * - `unknown`: it could not be looked at
 * - `info`: worth knowing, nothing to mend
 */
export type Severity = "error" | "warning" | "unknown" | "info";

export interface Finding {
  /** Stable: docs/guides/doctor.md lists them all. */
  readonly code: string;
  readonly severity: Severity;
  /** What was seen. */
  readonly found: string;
  /** What it means for locks. */
  readonly consequence: string;
  /** What to do. */
  readonly remedy: string;
}

/** What was seen of the server; null is unknown. */
export interface ServerFacts {
  /** "redis", "valkey", or what the server calls itself. */
  readonly kind: string | null;
  readonly version: string | null;
  readonly mode: "standalone" | "sentinel" | "cluster" | null;
  readonly role: "primary" | "replica" | null;
  /** Replicas that are connected to it. */
  readonly replicas: number | null;
  /** Bytes; 0 for no limit. */
  readonly maxMemoryBytes: number | null;
  readonly evictionPolicy: string | null;
  /** Time for one call and its answer: the median of several. */
  readonly roundTripMs: number | null;
  /** By how much the server's clock is ahead of this process's; negative when it is behind. */
  readonly clockOffsetMs: number | null;
  /** The true offset differs from `clockOffsetMs` by at most this. */
  readonly clockUncertaintyMs: number | null;
}

export interface DoctorReport {
  /** No finding is an error or a warning. */
  readonly healthy: boolean;
  /** The most severe first. */
  readonly findings: readonly Finding[];
  readonly facts: ServerFacts;
}

const ORDER: readonly Severity[] = ["error", "warning", "unknown", "info"];

export function reportOf(facts: ServerFacts, findings: readonly Finding[]): DoctorReport {
  const sorted = ORDER.flatMap((severity) => findings.filter((finding) => finding.severity === severity));
  const healthy = !sorted.some(({ severity }) => severity === "error" || severity === "warning");
  return { healthy, findings: sorted, facts };
}
