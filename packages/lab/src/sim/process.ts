/**
 * Process: one program under simulation, with its own clocks, timers and randomness. Give `clock` and `random` to its
 * Holdfast. Its code runs in `run()` and in what follows from it: timers, answers, promises.
 *
 * It can stand still (`pause`), be busy in the middle of its own code (`stall`), and die (`kill`). What is due for it
 * meanwhile waits, and is served in either order afterwards, timers first or input first, as the seed has it.
 */
import type { Clock, Instant, Random } from "holdfast";
import type { Dice } from "../chance/dice.js";
import type { Event, Owner } from "./events.js";
import type { Stage } from "./stage.js";

export interface ProcessOptions {
  /** Seconds of its clocks in a true second. @default 1 */
  readonly rate?: number;
  /** How far its wall clock is ahead of true time. @default 0 */
  readonly wallOffsetMs?: number;
}

interface Timer {
  readonly callback: () => void;
  readonly dueMonoMs: number;
  event: Event;
}

const idBytes = 16;
const hairMs = 1e-6;

export class Process implements Owner {
  readonly name: string;
  readonly #stage: Stage;
  /** Chance of its own, for its program. */
  readonly dice: Dice;
  readonly clock: Clock;
  readonly random: Random;
  /** The ids that its program has drawn: that of its inbox is among them. */
  readonly ids = new Set<string>();
  /** The ends of its connections. */
  readonly wires = new Set<{ close(): void }>();
  /** True time at which it began. */
  readonly bornMs: number;
  /** True time at which its wall clock was last stepped. */
  steppedMs = Number.NEGATIVE_INFINITY;
  /** By how much its wall clock was set back so far, in all. */
  setBackMs = 0;
  /** True time of its death. */
  diedMs = Number.POSITIVE_INFINITY;
  /** The machine lost its power together with the process, and no other end was told. */
  hasVanished = false;
  /** True time at which it last went on, after it stood still or was busy. */
  wokenMs = Number.NEGATIVE_INFINITY;
  /** True time at which the last stall was over that had waited for a look at the clock. */
  stalledMs = Number.NEGATIVE_INFINITY;
  #state: "running" | "paused" | "dead" = "running";
  #rate: number;
  /** Where its monotonic clock stood, and when that was. */
  #monoAtMs: number;
  #sinceMs: number;
  #wallOffsetMs: number;
  #isSuspended = false;
  /** Until when its code has used up time although the world is not there yet. */
  #aheadMs = 0;
  #heldUpMs = 0;
  #heldUpMonoMs = 0;
  #pausedMs = 0;
  #pausedMonoMs = 0;
  #held: Event[] = [];
  readonly #timers = new Set<Timer>();
  readonly #order: Dice;
  readonly #pending: { reads: number; forMs: number }[] = [];

  /** Made by `world.process(name)`. */
  constructor(stage: Stage, name: string, { rate = 1, wallOffsetMs = 0 }: ProcessOptions = {}) {
    this.#stage = stage;
    this.name = name;
    this.dice = stage.dice(`program of ${name}`);
    this.#order = stage.dice(`order of ${name}`);
    const ids = stage.dice(`ids of ${name}`);
    const chance = stage.dice(`random of ${name}`);
    this.#rate = rate;
    this.bornMs = stage.nowMs;
    this.#sinceMs = stage.nowMs;
    this.#monoAtMs = ids.between(1_000, 1_000_000);
    this.#wallOffsetMs = stage.startMs + wallOffsetMs - this.#monoAtMs;
    this.clock = {
      now: () => this.#read(),
      setTimer: (callback, delayMs) => this.after(delayMs, callback),
    };
    this.random = {
      fraction: () => chance.fraction(),
      id: () => {
        const id = idOf(ids);
        this.ids.add(id);
        return id;
      },
    };
  }

  get state(): "running" | "paused" | "dead" {
    return this.#state;
  }

  /** True time, as its code meets it: ahead of the world's while it is busy. */
  get nowMs(): number {
    return Math.max(this.#stage.nowMs, this.#aheadMs);
  }

  /** Its monotonic clock. Unlike `clock.now()`, a look that no stall waits for. */
  get monoMs(): number {
    return this.#monoMs();
  }

  /** Its wall clock, likewise. */
  get wallMs(): number {
    return Math.floor(this.#monoMs() + this.#wallOffsetMs);
  }

  /** For how long it stood still or was busy, in true time, up to now. */
  get heldUpMs(): number {
    return this.#heldUpMs + (this.#state === "paused" ? this.nowMs - this.#pausedMs : 0);
  }

  /** The same by its own monotonic clock, which a suspension stops, up to the last time that it went on. */
  get heldUpMonoMs(): number {
    return this.#heldUpMonoMs;
  }

  /** Its code can run at this moment. */
  get isAwake(): boolean {
    return this.#state === "running" && this.#aheadMs <= this.#stage.nowMs;
  }

  /** Timers that are set. */
  get timerCount(): number {
    return this.#timers.size;
  }

  /** Runs in a turn of its own, now or when the process goes on. What it rejects with is an error of the world. */
  run(work: () => unknown): void {
    const start = (): void => {
      const failed = (error: unknown): void => this.#stage.fail(error, this);
      try {
        Promise.resolve(work()).catch(failed);
      } catch (error) {
        failed(error);
      }
    };
    this.#stage.events.add(this.#stage.nowMs, start, { owner: this, kind: "other", quiet: false });
  }

  /** Calls back after `delayMs` of its monotonic clock, to the millisecond, as Node does. Returns the cancellation. */
  after(delayMs: number, callback: () => void): () => void {
    const wholeMs = Math.max(1, Math.trunc(Number.isFinite(delayMs) ? delayMs : 1));
    const dueMonoMs = this.#monoMs() + Math.max(0, wholeMs + this.#order.between(-0.9, 0.9));
    const timer: Timer = { callback, dueMonoMs, event: null as unknown as Event };
    this.#timers.add(timer);
    this.#arm(timer);
    return () => {
      timer.event.run = null;
      this.#timers.delete(timer);
    };
  }

  /** Resolves after `delayMs` of its clock. */
  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.after(delayMs, resolve));
  }

  /** Its code computes for this long, here and now: a blocked event loop. */
  stall(forMs: number): void {
    if (this.#state === "dead") return;
    this.#aheadMs = this.nowMs + forMs;
    this.wokenMs = this.#aheadMs;
    this.#heldUpMs += forMs;
    this.#heldUpMonoMs += forMs * this.#rate;
    this.#stage.events.add(this.#aheadMs, () => this.#release(), { owner: null, kind: "other", quiet: true });
  }

  /** Stalls at the `reads`th look that its code takes at the clock from now on: anywhere in its code, or the library's. */
  stallAtRead(reads: number, forMs: number): void {
    this.#pending.push({ reads, forMs });
  }

  /** Stops it, as SIGSTOP does; "suspend" stops its monotonic clock as well, as a closed laptop does. */
  pause(how: "stop" | "suspend" = "stop"): void {
    if (this.#state !== "running") return;
    this.#state = "paused";
    this.#pausedMs = this.nowMs;
    this.#pausedMonoMs = this.#monoMs();
    if (how === "stop") return;
    this.#settle();
    this.#isSuspended = true;
  }

  resume(): void {
    if (this.#state !== "paused") return;
    this.#state = "running";
    this.#heldUpMs += this.nowMs - this.#pausedMs;
    this.#heldUpMonoMs += this.#monoMs() - this.#pausedMonoMs; // nothing in a suspension
    this.wokenMs = this.nowMs;
    if (this.#isSuspended) {
      this.#isSuspended = false;
      this.#wallOffsetMs += (this.nowMs - this.#sinceMs) * this.#rate;
      this.#sinceMs = this.nowMs;
      this.#rearm();
    }
    this.#release();
  }

  /** Ends it. "crash": the system closes its connections. "vanish": nobody tells the other ends. */
  kill(how: "crash" | "vanish" = "crash"): void {
    if (this.#state === "dead") return;
    this.#state = "dead";
    this.diedMs = this.#stage.nowMs;
    this.hasVanished = how === "vanish";
    this.#aheadMs = this.diedMs;
    this.#held = [];
    this.#timers.clear();
    if (how === "crash") for (const wire of [...this.wires]) wire.close();
  }

  get rate(): number {
    return this.#rate;
  }

  /** Seconds of both its clocks in a true second. */
  set rate(rate: number) {
    // The wall clock goes on in a suspension, until now at the old rate.
    if (this.#isSuspended) this.#wallOffsetMs += (this.nowMs - this.#sinceMs) * this.#rate;
    this.#settle();
    this.#rate = rate;
    this.#rearm();
  }

  /** Steps its wall clock. The monotonic one does not notice. */
  stepWall(deltaMs: number): void {
    this.steppedMs = this.nowMs;
    this.setBackMs += Math.max(0, -deltaMs);
    this.#wallOffsetMs += deltaMs;
  }

  /** No stall is still to come. */
  heal(): void {
    this.#pending.length = 0;
  }

  /** Whether the event may run now. What may not is kept until it may. Called by the world. */
  admits(event: Event): boolean {
    if (this.#state === "dead") return false;
    if (this.#state === "running" && this.#aheadMs <= this.#stage.nowMs) return true;
    this.#held.push(event);
    return false;
  }

  #monoMs(): number {
    if (this.#isSuspended) return this.#monoAtMs;
    return this.#monoAtMs + (this.nowMs - this.#sinceMs) * this.#rate;
  }

  #settle(): void {
    this.#monoAtMs = this.#monoMs();
    this.#sinceMs = this.nowMs;
  }

  #read(): Instant {
    const next = this.#pending[0];
    if (next && this.#stage.current === this) {
      next.reads -= 1;
      if (next.reads <= 0) {
        this.#pending.shift();
        this.stall(next.forMs);
        this.stalledMs = this.#aheadMs;
      }
    }
    return { monoMs: this.#monoMs(), wallMs: this.wallMs };
  }

  /** What was held goes on, one after the other, before what comes in from now on. */
  #release(): void {
    if (this.#state !== "running" || this.#aheadMs > this.#stage.nowMs) return;
    const held = this.#held;
    this.#held = [];
    const first = this.#order.chance(0.5) ? "timer" : "input";
    for (const event of held) if (event.kind === first) this.#again(event);
    for (const event of held) if (event.kind !== first) this.#again(event);
  }

  #again(event: Event): void {
    if (event.run) this.#stage.events.defer(event, this.#stage.nowMs);
  }

  #arm(timer: Timer): void {
    const inMs = Math.max(0, timer.dueMonoMs - this.#monoMs()) / this.#rate;
    const fire = (): void => {
      if (timer.dueMonoMs - this.#monoMs() > hairMs) {
        this.#arm(timer);
        return;
      }
      this.#timers.delete(timer);
      timer.callback();
    };
    const about = { owner: this, kind: "timer", quiet: false } as const;
    timer.event = this.#stage.events.add(this.nowMs + inMs, fire, about);
  }

  /** Its clock has changed: so have the times at which its timers are due. */
  #rearm(): void {
    for (const timer of this.#timers) {
      if (this.#held.includes(timer.event)) continue;
      timer.event.run = null;
      this.#arm(timer);
    }
  }
}

/** 128 bits in the letters of URLs, as the library's own ids. */
function idOf(dice: Dice): string {
  const bytes = Buffer.alloc(idBytes);
  for (let at = 0; at < idBytes; at += 4) bytes.writeUInt32LE(dice.seed(), at);
  return bytes.toString("base64url");
}
