/** What a worker of D1 with real processes is told, and what it tells. */
import type { Side } from "../verdict.js";

export interface WorkerTask {
  readonly side: Side;
  readonly name: string;
  readonly url: string;
  readonly ttlMs: number;
  readonly amount: number;
  /** It gets SIGSTOP in the middle of its work. */
  readonly stops: boolean;
}

export interface WorkerEvent {
  readonly event: "asks" | "granted" | "read" | "checked" | "written" | "refused" | "released" | "lost";
  /** CLOCK_MONOTONIC. */
  readonly atMs: number;
  readonly value?: number;
  readonly token?: string;
  readonly seen?: string;
  readonly result?: string;
  readonly validUntilMs?: number;
}
