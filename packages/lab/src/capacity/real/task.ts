/** What a process of the real loads is told, and what it answers. */
import type { Scale } from "../load.js";

/** The load that it takes part in next, over a client of its own. */
export interface JoinOrder {
  readonly kind: "join";
  readonly load: string;
  readonly place: number;
  readonly processes: number;
  readonly port: number;
  readonly scale: Scale;
}

/** One phase of the load; phases come one after the other. */
export interface PhaseOrder {
  readonly kind: "phase";
  readonly phase: string;
}

/** The load is over: its Holdfasts and its client are closed. */
export interface LeaveOrder {
  readonly kind: "leave";
}

export type Order = JoinOrder | PhaseOrder | LeaveOrder;

export interface Report {
  readonly done: number;
  readonly requests: number;
  readonly cpuMs: number;
  /** What went wrong; null: nothing. */
  readonly error: string | null;
}
