/** A limiter in virtual time: its Redis is the real engine, asked without a network, and it counts what is asked. */
import { ServerError, UnavailableError } from "../../src/errors.ts";
import { Limit } from "../../src/limits/limit.ts";
import type { LimitGroup, LimitGroupPart } from "../../src/limits/limit-group.ts";
import { Limiter } from "../../src/limits/limiter.ts";
import { Limits } from "../../src/limits/limits.ts";
import type { LimitOptions } from "../../src/limits/settings.ts";
import { BreakerPort } from "../../src/redis/breaker.ts";
import type { RedisPort, Reply } from "../../src/redis/port.ts";
import type { Script } from "../../src/redis/script.ts";
import type { Instant } from "../../src/time/clock.ts";
import { Schedule } from "../../src/time/schedule.ts";
import { askThrough } from "../ask-through.js";
import { Dice, type Engine } from "./engine.ts";

export class VirtualLimits {
  readonly engine: Engine;
  readonly limiter: Limiter;
  readonly port: EnginePort;
  /** The way from the limiter to the port. */
  readonly breaker: BreakerPort;
  readonly limits: Limits;
  /** Seconds of this process in a true second. */
  rate = 1;
  readonly #now: () => Instant;
  readonly #timers: { readonly dueMs: number; readonly ring: () => void }[] = [];

  constructor(engine: Engine, seed = 1) {
    this.engine = engine;
    this.port = new EnginePort(engine);
    const dice = new Dice(seed);
    const bornUs = engine.trueUs;
    const now = (): Instant => {
      const monoMs = ((engine.trueUs - bornUs) / 1_000) * this.rate;
      return { monoMs, wallMs: 1_000_000 + monoMs };
    };
    this.#now = now;
    const setTimer = (ring: () => void, delayMs: number) => {
      const timer = { dueMs: now().monoMs + delayMs, ring };
      this.#timers.push(timer);
      return () => void this.#timers.splice(this.#timers.indexOf(timer), 1);
    };
    const schedule = new Schedule({ now, setTimer });
    this.breaker = new BreakerPort(this.port, schedule, 1_000);
    this.limiter = new Limiter({
      breakerPort: this.breaker,
      schedule,
      random: { fraction: () => dice.fraction(), id: () => `id-${seed}-${dice.whole(0, 1e9)}` },
      prefix: "t",
      callTimeoutMs: 1_000,
    });
    this.limits = new Limits(this.limiter);
  }

  get timers(): number {
    return this.#timers.length;
  }

  limit(name: string, options: LimitOptions): Limit {
    return new Limit(this.limiter, name, options);
  }

  all(parts: readonly LimitGroupPart[]): LimitGroup {
    return this.limits.all(parts);
  }

  /** The timers that are due. */
  ring(): void {
    const { monoMs } = this.#now();
    for (const { ring } of this.#timers.filter(({ dueMs }) => dueMs <= monoMs)) ring();
  }

  pass(ms: number): void {
    this.engine.trueUs += Math.round(ms * 1_000);
  }
}

/** A call that is answered only when the test says so. */
interface Held {
  readonly run: () => void;
}

class EnginePort implements RedisPort {
  trouble: string | null = null;
  readonly writes = 0;
  readonly disruptions = 0;
  /** Calls so far: the script's first argument, or the command. */
  readonly calls: string[] = [];
  readonly limits: number[] = [];
  /** Answers instead of the engine. */
  failure: (() => Error) | null = null;
  isHeld = false;
  readonly ask = askThrough(this);
  /** What is asked is carried out, and its answer held. */
  keepsAnswers = false;
  readonly #held: Held[] = [];
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  script(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    timeoutMs: number,
  ): Promise<Reply> {
    const words = ["EVALSHA", script.sha1, String(keys.length), ...keys, ...args];
    const how = args.length === 2 ? "take" : `${args[0]}`; // a lone charge says no more than its cost and bounds
    return this.#call(how, words, timeoutMs);
  }

  command(args: readonly string[], timeoutMs: number): Promise<Reply> {
    return this.#call(`${args[0]}`, args, timeoutMs);
  }

  readonly zeroListenersMeansGone = true;
  readonly reportsBreaks = true;

  unavailable(): UnavailableError | null {
    return this.trouble === null ? null : new UnavailableError(this.trouble);
  }

  slotOf(): number {
    return 0;
  }

  openMessages(): never {
    throw new Error("limits do not listen");
  }

  async close(): Promise<void> {}

  /** What was held is carried out. */
  release(): void {
    this.isHeld = false;
    for (const { run } of this.#held.splice(0)) run();
  }

  #call(what: string, words: readonly string[], timeoutMs: number): Promise<Reply> {
    this.calls.push(what);
    this.limits.push(timeoutMs);
    return new Promise((resolve, reject) => {
      const run = (): void => {
        if (this.failure) {
          reject(this.failure());
          return;
        }
        const answer = this.#engine.call(...words);
        const tell = (): void => {
          if (answer instanceof Error) reject(new ServerError(answer.message));
          else resolve(answer as Reply);
        };
        if (this.keepsAnswers) this.#held.push({ run: tell });
        else tell();
      };
      if (this.isHeld) this.#held.push({ run });
      else queueMicrotask(run);
    });
  }
}
