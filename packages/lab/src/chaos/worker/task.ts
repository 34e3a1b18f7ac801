/** What a worker is told to do, and the words between it and its parent. */

export type ClientName = "ioredis" | "ioredis5" | "node-redis";
export const clientNames: readonly ClientName[] = ["ioredis", "ioredis5", "node-redis"];

export type CanaryName = "setnx-expire" | "fixed-ttl" | "redlock" | "redis-semaphore";
export const canaryNames: readonly CanaryName[] = ["setnx-expire", "fixed-ttl", "redlock", "redis-semaphore"];

/** In the stack of an error that a canary was given. */
export const CANARY = "a canary";

/** The variable that names the folder of another clone, whose library a worker runs. */
export const AGAINST = "HOLDFAST_LAB_AGAINST";

export interface WorkerTask {
  /** "w1", and after a kill "w1#2". */
  readonly name: string;
  readonly seed: number;
  /** Where the server is reached: through a proxy, or over a link. */
  readonly host: string;
  readonly port: number;
  /** The socket file of a server without faults, on which the guarded resources live. */
  readonly vault: string;
  /** Those of other servers without faults, which vote together with the server; only where a workload needs them. */
  readonly nodes: readonly string[];
  readonly client: ClientName;
  /** Some workers run another library, which may have other layouts. */
  readonly isMixed: boolean;
  readonly journal: string;
  /** How many callers use holdfast at the same time. */
  readonly callers: number;
  readonly keys: readonly string[];
  readonly ttlsMs: readonly number[];
  readonly callTimeoutMs: number;
  readonly canaries: readonly CanaryName[];
  /** Workloads beside the mutex. */
  readonly workloads: readonly string[];
  readonly canaryTtlMs: number;
}

/**
 * - `stop`: no new operation; answered when all that began have ended
 * - `probe`: takes each lock once, waiting at most `waitMs`; answered with the longest wait
 * - `close`: ends everything; the process then ends by itself
 */
export type Verb = "stop" | "probe" | "close";

export interface Order {
  readonly order: number;
  readonly verb: Verb;
  readonly waitMs?: number;
}

export interface Answer {
  readonly order: number;
  readonly value?: unknown;
  readonly error?: string;
}
