/**
 * The guard of the pages that are asked for most. More than ten hits of one student on one route within a second postpone
 * the start of that student; once it has begun, they close these pages to the student for 15 seconds.
 */
import type { Guard, Holdfast } from "holdfast";
import type { Batch } from "../domain/batch.js";

export type RushRoute = "countdown" | "grab";

/** Hits that are free within a second. */
export const FREE_HITS = 10;
const PENALTY_MS = 15_000;
/** Nobody is kept out for longer, however hard the page was hit. */
const MOST_POSTPONED_MS = 120_000;

export interface RushVerdict {
  /** The start of this student. */
  readonly startsAtMs: number;
  /** How much later than the batch that is. */
  readonly postponedMs: number;
  /** When the pages open to the student again; null: they are open. */
  readonly busyUntilMs: number | null;
}

export class Rush {
  readonly #early: Guard;
  readonly #late: Guard;

  constructor(hf: Holdfast) {
    const common = { hits: FREE_HITS, per: "1s", outage: "open", timeout: "500ms" } as const;
    // Its strikes are what counts: each moves the start by the length of the penalty.
    this.#early = hf.guard("dormitory-early", {
      ...common,
      penalties: [{ kind: "postpone", for: PENALTY_MS }],
      decay: "1d",
    });
    this.#late = hf.guard("dormitory-rush", { ...common, penalties: [{ kind: "busy", for: PENALTY_MS }] });
  }

  /** Counts a request for one of the pages. */
  async hit(studentId: string, route: RushRoute, batch: Batch, nowMs: number): Promise<RushVerdict> {
    const subject = `${batch.id}:${studentId}`;
    const hasBegun = nowMs >= batch.startsAtMs;
    if (!hasBegun) return postponed(batch, (await this.#early.hit(subject, route)).strikes);
    const known = nowMs < batch.startsAtMs + MOST_POSTPONED_MS ? await this.#strikes(subject) : 0;
    if (nowMs < postponed(batch, known).startsAtMs)
      return postponed(batch, (await this.#early.hit(subject, route)).strikes);
    const { ok, retryAfterMs } = await this.#late.hit(subject, route);
    return { ...postponed(batch, known), busyUntilMs: ok ? null : nowMs + (retryAfterMs ?? PENALTY_MS) };
  }

  /** What the pages would say now, without a hit. */
  async look(studentId: string, batch: Batch, nowMs: number): Promise<RushVerdict> {
    const subject = `${batch.id}:${studentId}`;
    const { ok, retryAfterMs } = await this.#late.look(subject);
    return {
      ...postponed(batch, await this.#strikes(subject)),
      busyUntilMs: ok ? null : nowMs + (retryAfterMs ?? PENALTY_MS),
    };
  }

  async #strikes(subject: string): Promise<number> {
    return (await this.#early.look(subject)).strikes;
  }
}

function postponed({ startsAtMs }: Batch, strikes: number): RushVerdict {
  const postponedMs = Math.min(strikes * PENALTY_MS, MOST_POSTPONED_MS);
  return { startsAtMs: startsAtMs + postponedMs, postponedMs, busyUntilMs: null };
}
