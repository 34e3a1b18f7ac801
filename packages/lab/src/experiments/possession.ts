/** Possession: the time in which an actor believes that it holds a lock. Written down as a "hold", drawn as a bar. */
import type { Lease, LeaseLostError } from "holdfast";
import type { Pending } from "../history/recorder.js";
import type { Bar } from "../timeline/timeline.js";
import type { Held, Holder } from "./scene.js";

type KnownLease = Pick<Lease, "fence" | "signal" | "valid" | "remainingMs">;

export interface PossessionTerms {
  /** The lock. */
  readonly key: string;
  readonly token?: bigint;
  /** When the server's lease ends if nobody renews it, in ms from now. @default it has no end */
  readonly leaseMs?: number;
  /** Whether the holder itself stops to believe when the lease is over. @default false */
  readonly isWary?: boolean;
  /** Of holdfast, a lease or a leadership: it knows until when it is valid. */
  readonly lease?: KnownLease;
}

const lookEveryMs = 50;

export class Possession implements Held {
  readonly token: bigint;
  readonly #actor: Holder;
  readonly #terms: PossessionTerms;
  readonly #pending: Pending;
  readonly #fromMs: number;
  readonly #barAt: number;
  /** When the lease is over, whatever the holder believes. */
  #overMs: number;
  #forgottenMs = Infinity;
  #isEnded = false;

  /** Made by `actor.possess(…)`. */
  constructor(actor: Holder, terms: PossessionTerms) {
    const { trial, nowMs } = actor;
    this.#actor = actor;
    this.#terms = terms;
    this.token = terms.token ?? terms.lease?.fence ?? trial.nextGrant();
    this.#fromMs = nowMs;
    this.#overMs = nowMs + (terms.leaseMs ?? Infinity);
    this.#pending = actor.recorder.begin("hold", terms.key, { token: this.token });
    this.#barAt = trial.picture.bars.push(this.#bar("hold", nowMs, Infinity)) - 1;
    actor.possessions.add(this);
    const { lease } = terms;
    if (!lease) return;
    lease.signal.addEventListener("abort", () => this.#lost(lease), { once: true });
    this.look();
    this.#lookAgain();
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** A recipe has renewed it. One that was over already is somebody else's. */
  renewed(leaseMs: number): void {
    const { nowMs } = this.#actor;
    if (nowMs < this.#overMs) this.#overMs = nowMs + leaseMs;
  }

  /** The server has forgotten it, now. The holder does not know: what it believes stays as it is. */
  forgotten(): void {
    this.#forgottenMs = Math.min(this.#forgottenMs, this.#actor.trial.nowMs);
  }

  /** Holdfast's lease is a deadline that renewals move: what it says while it is valid counts. */
  look(): void {
    const { lease } = this.#terms;
    if (lease?.valid) this.#overMs = this.#actor.nowMs + lease.remainingMs;
  }

  /** Gives up the belief: before the release is sent. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#actor.possessions.delete(this);
    const { nowMs } = this.#actor;
    const knows = this.#terms.isWary || this.#terms.lease;
    this.#pending.ok({ endMs: knows ? Math.min(nowMs, this.#overMs) : nowMs });
    this.#draw(nowMs);
  }

  /** As far as it goes at the end of the trial. */
  finish(): void {
    if (!this.#isEnded) this.#draw(Infinity);
  }

  #draw(toMs: number): void {
    const { bars } = this.#actor.trial.picture;
    const overMs = Math.min(toMs, this.#overMs, this.#forgottenMs);
    const isStale = overMs < toMs;
    bars[this.#barAt] = this.#bar("hold", this.#fromMs, overMs, isStale ? this.#runOut() : undefined);
    const knows = this.#terms.isWary || this.#terms.lease !== undefined;
    const believedMs = knows ? Math.min(toMs, this.#overMs) : toMs;
    if (overMs < believedMs) bars.push(this.#bar("stale", overMs, believedMs));
  }

  #runOut(): string {
    return this.#forgottenMs < this.#overMs ? "" : `${this.#actor.name}'s lease is over`;
  }

  #bar(kind: Bar["kind"], fromMs: number, toMs: number, endNote?: string): Bar {
    const lane = this.#actor.name;
    if (kind === "stale")
      return { lane, fromMs, toMs, kind, note: `${lane} still believes that the lock is held` };
    const label = this.#actor.trial.picture.saw(this.token);
    return { lane, fromMs, toMs, kind, label, note: "", endNote: endNote ?? "" };
  }

  #lost(lease: KnownLease): void {
    const { reason } = lease.signal.reason as LeaseLostError;
    const { trial, name, nowMs } = this.#actor;
    trial.mark(name, "lost", `${name} learns that the lease is over (${reason})`, nowMs);
    this.end();
  }

  #lookAgain(): void {
    const { world } = this.#actor.trial;
    world.at(world.nowMs + lookEveryMs, () => {
      if (this.#isEnded) return;
      if (this.#actor.process.isAwake) this.look();
      this.#lookAgain();
    });
  }
}
