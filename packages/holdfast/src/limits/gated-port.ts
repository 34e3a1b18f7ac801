/** Gated port: the way to Redis for all that limits and guards send. What the gate does not let pass is never sent. */
import { IndeterminateError, ServerError } from "../errors.js";
import type { RedisPort, Reply } from "../redis/port.js";
import type { Script } from "../redis/script.js";
import type { Schedule } from "../time/schedule.js";
import { Gate } from "./gate.js";

export interface GatedPortOptions {
  readonly port: RedisPort;
  readonly schedule: Schedule;
  readonly callTimeoutMs: number;
}

const known = new WeakMap<RedisPort, GatedPort>();

export class GatedPort implements Pick<RedisPort, "script" | "command"> {
  readonly gate: Gate;
  readonly #port: RedisPort;
  readonly #schedule: Schedule;

  private constructor({ port, schedule, callTimeoutMs }: GatedPortOptions) {
    this.gate = new Gate(port, schedule, callTimeoutMs);
    this.#port = port;
    this.#schedule = schedule;
  }

  /** One for each port: what limits learn of Redis guards know as well, and one PING is enough. */
  static of(options: GatedPortOptions): GatedPort {
    const found = known.get(options.port) ?? new GatedPort(options);
    known.set(options.port, found);
    return found;
  }

  /** How much of the time limit is left once Redis may be asked. @throws {UnavailableError} it may not */
  pass(timeoutMs: number): number | Promise<number> {
    const trouble = this.gate.check(timeoutMs);
    return trouble === null ? timeoutMs : this.#wait(trouble, timeoutMs);
  }

  /** Errors as of the port. @throws {UnavailableError} it was not sent */
  script(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    timeoutMs: number,
  ): Promise<Reply> {
    return this.#through(timeoutMs, (leftMs) => this.#port.script(script, keys, args, leftMs));
  }

  /** Errors as for `script`. */
  command(args: readonly string[], timeoutMs: number): Promise<Reply> {
    return this.#through(timeoutMs, (leftMs) => this.#port.command(args, leftMs));
  }

  async #through(timeoutMs: number, send: (leftMs: number) => Promise<Reply>): Promise<Reply> {
    const leftMs = await this.pass(timeoutMs);
    try {
      const reply = await send(leftMs);
      this.gate.answered();
      return reply;
    } catch (error) {
      if (error instanceof ServerError) this.gate.answered(); // a refusal is an answer
      if (error instanceof IndeterminateError) this.gate.failed(error, timeoutMs);
      throw error;
    }
  }

  async #wait(trouble: ReturnType<Gate["check"]>, timeoutMs: number): Promise<number> {
    const { clock } = this.#schedule;
    const sinceMs = clock.now().monoMs;
    const error = await trouble;
    if (error) throw error;
    return Math.max(1, Math.ceil(timeoutMs - (clock.now().monoMs - sinceMs)));
  }
}
