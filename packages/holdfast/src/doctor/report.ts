/** What `hf.doctor()` returns: plain data, ready for JSON. */

/**
 * - `error`: locks cannot be taken, or can be lost even in normal operation of the server
 * - `warning`: locks can be lost, or are slow, when something fails
 * - `unknown`: the doctor could not check it
 * - `info`: worth knowing, but there is nothing to fix
 */
export type Severity = "error" | "warning" | "unknown" | "info";

export interface Finding {
  /** Stable: docs/guides/doctor.md lists them all. */
  readonly code: string;
  readonly severity: Severity;
  /** The observation. */
  readonly found: string;
  /** Its consequence for locks. */
  readonly consequence: string;
  /** The action that removes the risk. */
  readonly remedy: string;
}

/** The facts about the server; an unknown fact is null. */
export interface ServerFacts {
  /** "redis", "valkey", or the server's own name. */
  readonly kind: string | null;
  readonly version: string | null;
  readonly mode: "standalone" | "sentinel" | "cluster" | null;
  readonly role: "primary" | "replica" | null;
  /** Seconds since it started. */
  readonly uptimeSeconds: number | null;
  /**
   * What it writes to its disk: each command (`always`), the commands of each second (`everysec`), commands when the operating system
   * likes (`unsynced`), snapshots alone, or nothing.
   */
  readonly persistence: "always" | "everysec" | "unsynced" | "snapshots" | "none" | null;
  /** Replicas that are connected to it. */
  readonly replicas: number | null;
  /** Bytes; 0 for no limit. */
  readonly maxMemoryBytes: number | null;
  readonly evictionPolicy: string | null;
  /** Milliseconds from a call to its reply: the median of several. */
  readonly roundTripMs: number | null;
  /** Milliseconds by which the server's clock is ahead of this process's clock; negative when it is behind. */
  readonly clockOffsetMs: number | null;
  /** Milliseconds by which the true offset can differ from `clockOffsetMs`. */
  readonly clockUncertaintyMs: number | null;
}

export interface DoctorReport {
  /** Whether no finding is an error or a warning. */
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
