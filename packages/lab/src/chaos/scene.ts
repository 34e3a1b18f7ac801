/** Scene: what a nemesis can lay hands on. */
import type { FaultProxy } from "@holdfast/conformance";
import type { ShimmedClock } from "./clock-shim.js";
import type { NetworkLink } from "./link.js";
import type { ChaosServer } from "./server.js";
import type { WorkerProcess } from "./worker-process.js";

/** A worker's place: the process in it may die, and another takes it. */
export interface Slot {
  readonly name: string;
  /** Its way to the server; null where it is the link. */
  readonly proxy: FaultProxy | null;
  readonly clock: ShimmedClock | null;
  readonly worker: WorkerProcess;
  /** Kills the process and starts another one. */
  replace(): Promise<void>;
}

export interface Scene {
  readonly server: ChaosServer;
  readonly slots: readonly Slot[];
  readonly link: NetworkLink | null;
  /** The longest ttl in use: a fault that is to outlast a lease outlasts this. */
  readonly ttlMs: number;
}
