/**
 * Connection: the port over one client. Calls of one tick travel in one batch; each has its own time
 * limit; a script that the server does not know yet is sent whole.
 */
import { ClosedError, HoldfastError, IndeterminateError, ServerError } from "../errors.js";
import type { Alarm, Schedule } from "../time/schedule.js";
import type { ClientSubscription, RedisClient } from "./client.js";
import type { Inbound, RedisPort, Reply, Subscription } from "./port.js";
import type { Script } from "./script.js";

interface Call {
  readonly command: readonly string[];
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
  readonly limitMs: number;
  alarm: Alarm | null;
}

/** An alarm that is later than this says that the process stood still. */
const STALL_MS = 20;

export class Connection implements RedisPort {
  readonly #client: RedisClient;
  readonly #ownsClient: boolean;
  readonly #schedule: Schedule;
  readonly #known = new Set<string>();
  readonly #subscriptions = new Set<ClientSubscription>();
  #batch: Call[] = [];
  #closed = false;
  #disruptions = 0;
  readonly #stopCounting: () => void;

  constructor(client: RedisClient, ownsClient: boolean, schedule: Schedule) {
    this.#client = client;
    this.#ownsClient = ownsClient;
    this.#schedule = schedule;
    this.#stopCounting = client.onDisruption(() => {
      this.#disruptions += 1;
    });
  }

  get disruptions(): number {
    return this.#disruptions;
  }

  async script(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    limitMs: number,
  ): Promise<Reply> {
    const rest = [String(keys.length), ...keys, ...args];
    if (this.#known.has(script.sha1)) {
      try {
        return await this.command(["EVALSHA", script.sha1, ...rest], limitMs);
      } catch (error) {
        if (!(error instanceof ServerError && error.serverCode === "NOSCRIPT")) throw error;
      }
    }
    // Known from here on, not from the answer on: what is sent after this arrives after it.
    this.#known.add(script.sha1);
    return this.command(["EVAL", script.source, ...rest], limitMs);
  }

  command(args: readonly string[], limitMs: number): Promise<Reply> {
    if (this.#closed) return Promise.reject(new ClosedError("a call to Redis came after hf.close()"));
    return new Promise((resolve, reject) => {
      this.#batch.push({ command: args, resolve, reject, limitMs, alarm: null });
      // nextTick and not a microtask: it runs after all continuations of the current tick, so that
      // the next calls of sixty-four holders whose replies came together leave together as well.
      if (this.#batch.length === 1) process.nextTick(() => this.#flush());
    });
  }

  subscribe(channel: string, inbound: Inbound): Subscription {
    const subscription = this.#client.subscribe(channel, {
      message: (text) => inbound.message(text),
      up: () => inbound.up(),
      down: (error) => inbound.down(error && asHoldfastError(error, "SUBSCRIBE")),
    });
    this.#subscriptions.add(subscription);
    return {
      answers: (limitMs) => this.#answers(subscription, limitMs),
      close: () => {
        this.#subscriptions.delete(subscription);
        subscription.close();
      },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopCounting();
    for (const subscription of this.#subscriptions) subscription.close();
    this.#subscriptions.clear();
    if (this.#ownsClient) this.#client.close();
  }

  #answers(subscription: ClientSubscription, limitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const alarm = this.#schedule.after(limitMs, () => resolve(false));
      const settle = (answers: boolean): void => {
        this.#schedule.cancel(alarm);
        resolve(answers);
      };
      subscription.ping().then(
        () => settle(true),
        () => settle(false),
      );
    });
  }

  #flush(): void {
    const batch = this.#batch;
    this.#batch = [];
    let replies: Promise<unknown>[];
    try {
      replies = this.#client.send(batch.map((call) => call.command));
    } catch (error) {
      for (const call of batch) call.reject(asHoldfastError(error, call.command[0]));
      return;
    }
    batch.forEach((call, place) => {
      const settle = (): void => this.#schedule.cancel(call.alarm);
      call.alarm = this.#schedule.after(call.limitMs, () => this.#ring(call));
      (replies[place] as Promise<unknown>).then(
        (reply) => {
          settle();
          call.resolve(reply as Reply);
        },
        (error: unknown) => {
          settle();
          call.reject(asHoldfastError(error, call.command[0]));
        },
      );
    });
  }

  /** After a stall of the process the alarm rings before the answers that came meanwhile were read. */
  #ring(call: Call): void {
    const lateMs = this.#schedule.clock.now().monoMs - (call.alarm?.dueMs ?? 0);
    if (lateMs < STALL_MS) call.reject(this.#outOfTime(call));
    else call.alarm = this.#schedule.after(1, () => call.reject(this.#outOfTime(call)));
  }

  #outOfTime(call: Call): IndeterminateError {
    const what = `no answer to ${call.command[0]} within ${Math.round(call.limitMs)} ms`;
    const trouble = this.#client.trouble();
    if (!trouble) return new IndeterminateError(what);
    const { text, cause } = trouble;
    return new IndeterminateError(
      `${what}: ${text}${cause ? `: ${cause.message}` : ""}`,
      cause ? { cause } : undefined,
    );
  }
}

/** Redis answers errors as a word in capitals and a text; everything else is the client's own trouble. */
const SERVER_REPLY = /^[A-Z][A-Z0-9_]* /;

function asHoldfastError(error: unknown, command: string | undefined): HoldfastError {
  if (error instanceof HoldfastError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (SERVER_REPLY.test(message)) return new ServerError(message, { cause: error });
  return new IndeterminateError(`${command} failed (${message})`, { cause: error });
}
