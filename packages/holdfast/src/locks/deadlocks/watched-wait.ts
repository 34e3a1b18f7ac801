/** WatchedWait: a wait of this process that is looked at, and what its looks have found so far. */
import type { ProcessRecord } from "../../process-record.js";
import type { LockNoun } from "../../telemetry/events.js";
import type { Instant } from "../../time/clock.js";
import type { Alarm } from "../../time/schedule.js";
import type { Wanted } from "../ownership.js";
import type { Circle } from "./graph.js";
import type { View } from "./reading.js";
import type { ToldWait } from "./wait-record.js";

/** A circle that a look has found, and that is not proven yet. */
interface Suspicion {
  readonly signature: string;
  /** The first beat that was written after that look. */
  readonly beat: number;
  /** Number of looks that have found it. */
  looks: number;
}

export class WatchedWait implements ToldWait {
  readonly id: string;
  readonly noun: LockNoun;
  readonly name: string;
  readonly permits: number;
  readonly process: ProcessRecord;
  readonly since: Instant;
  beat = 0;
  seen: Readonly<Record<string, number>> = {};
  suspicion: Suspicion | null = null;
  isOver = false;
  alarm: Alarm | null = null;
  /** Ids of the leases that its code holds. */
  readonly leases = new Set<string>();

  constructor(id: string, wanted: Wanted, process: ProcessRecord, since: Instant) {
    this.id = id;
    this.noun = wanted.noun;
    this.name = wanted.name;
    this.permits = wanted.isExclusive ? wanted.permits : wanted.weight;
    this.process = process;
    this.since = since;
  }

  /** Notes what a look has found. Returns whether it is another circle than that of the look before. */
  suspect(signature: string | null, view: View | null, circle: Circle | null): boolean {
    const told = [...(circle?.waits ?? [])].flatMap((id) => view?.told.get(id) ?? []);
    this.seen = Object.fromEntries(told.map(({ id, beat }) => [id, beat]));
    const isNew = signature !== (this.suspicion?.signature ?? null);
    if (isNew) this.suspicion = signature === null ? null : { signature, beat: this.beat + 1, looks: 0 };
    if (this.suspicion) this.suspicion.looks += 1;
    return isNew;
  }

  /** Whether another wait of the circle was under way after the first look that found it. Those of this process are known to be. */
  isProven({ told }: View, id: string): boolean {
    const other = told.get(id);
    return !other || (this.suspicion !== null && (other.seen[this.id] ?? 0) >= this.suspicion.beat);
  }
}
