/**
 * Emissions: the calls of `emitOne` that wait for their outcome. The process that was chosen says whether one of its callers has the
 * signal. It says so by a message to the inbox. A lost message costs time only, because the outcome is looked up as well. The signal is never
 * handed over a second time: a server that lost its data would give it to another waiter.
 */
import { ClosedError, type HoldfastError, IndeterminateError, isRefusal } from "../errors.js";
import type { RedisContext } from "../redis/context.js";
import { nothingSentSince } from "../redis/port.js";
import { Pending } from "../time/pending.js";
import { jittered } from "../time/random.js";
import type { Alarm } from "../time/schedule.js";
import { type Outcome, outcomeOf, type SeatScripts } from "./seat-scripts.js";

interface Emission {
  readonly name: string;
  readonly id: string;
  readonly data: string;
  readonly pending: Pending<boolean>;
  /** Both of the port, when it began. */
  readonly writes: number;
  readonly disruptions: number;
  lookMs: number;
  look: Alarm | null;
  /** The last request had no answer. */
  trouble: HoldfastError | null;
}

/** When to ask first for an outcome that no message told, while the inbox is up, and while it is not. */
const LOOK_MS = 200;
const BLIND_LOOK_MS = 10;

export class Emissions {
  readonly #context: Pick<RedisContext, "inbox" | "port" | "schedule" | "random" | "callTimeoutMs">;
  readonly #scripts: SeatScripts;
  readonly #byId = new Map<string, Emission>();

  constructor(
    context: Pick<RedisContext, "inbox" | "port" | "schedule" | "random" | "callTimeoutMs">,
    scripts: SeatScripts,
  ) {
    this.#context = context;
    this.#scripts = scripts;
    context.inbox.serve({ waits: () => this.#byId.size > 0, turned() {} });
    context.port.onClosed?.(() => {
      for (const emission of [...this.#byId.values()]) this.#giveUp(emission);
    });
    context.inbox.handle("emitted", ([id = "", outcome]) => {
      const emission = this.#byId.get(id);
      if (emission) this.#settle(emission, outcomeOf(outcome));
    });
  }

  /** Resolves with whether a waiter has it. @throws {ServerError} @throws {IndeterminateError} */
  emitOne(name: string, data: string): Promise<boolean> {
    const { schedule, random, callTimeoutMs, inbox } = this.#context;
    const { writes, disruptions } = this.#context.port;
    inbox.open();
    const id = random.id();
    const pending: Pending<boolean> = new Pending<boolean>(schedule, {
      waitMs: callTimeoutMs,
      onTimeout: () => this.#giveUp(emission),
      onEnd: () => {
        schedule.cancel(emission.look);
        this.#byId.delete(id);
        if (this.#byId.size === 0) inbox.rest();
      },
    });
    const lookMs = inbox.up ? LOOK_MS : BLIND_LOOK_MS;
    const emission: Emission = {
      name,
      id,
      data,
      pending,
      writes,
      disruptions,
      lookMs,
      look: null,
      trouble: null,
    };
    this.#byId.set(id, emission);
    void this.#send(emission);
    return pending.promise;
  }

  close(): void {
    for (const { pending } of [...this.#byId.values()])
      pending.reject(
        new ClosedError("hf.close() came before emitOne() knew whether a waiter has the signal"),
      );
  }

  #giveUp({ name, writes, trouble, pending }: Emission): void {
    const { port, callTimeoutMs } = this.#context;
    pending.reject(nothingSentSince(port, writes) ?? trouble ?? unconfirmed(name, callTimeoutMs));
  }

  async #send(emission: Emission): Promise<void> {
    const { name, id, data, pending } = emission;
    try {
      this.#settle(emission, await this.#scripts.emitOne(name, id, data));
    } catch (error) {
      emission.trouble = error as HoldfastError;
      if (isRefusal(error)) pending.reject(error);
    }
    this.#lookLater(emission);
  }

  #lookLater(emission: Emission): void {
    if (emission.pending.isOver) return;
    const { schedule, random } = this.#context;
    const delayMs = jittered(random, emission.lookMs, 0.3);
    emission.look = schedule.after(delayMs, () => void this.#look(emission));
    emission.lookMs = Math.min(emission.lookMs * 2, LOOK_MS);
  }

  async #look(emission: Emission): Promise<void> {
    try {
      this.#settle(emission, await this.#scripts.outcome(emission.name, emission.id));
    } catch (error) {
      // A look that was not sent says nothing of the signal.
      if (!isRefusal(error)) emission.trouble = error as HoldfastError;
    }
    this.#lookLater(emission);
  }

  #settle({ name, pending, disruptions }: Emission, outcome: Outcome): void {
    // A copy may find nobody at a server that has lost what the first one did.
    if (outcome === "nobody" && this.#context.port.disruptions !== disruptions) pending.reject(unsure(name));
    else if (outcome !== "handed") pending.resolve(outcome === "taken");
  }
}

function unconfirmed(name: string, timeoutMs: number): IndeterminateError {
  return new IndeterminateError(
    `the process that was chosen for '${name}' did not confirm within ${timeoutMs} ms that a waiter has the signal`,
  );
}

function unsure(name: string): IndeterminateError {
  return new IndeterminateError(
    `the connection broke while '${name}' was emitted: nobody waits now, and a waiter may have the signal`,
  );
}
