/** Results: outcomes of messages, as Redis keeps them, and the waits for them. */
import { IndeterminateError } from "../errors.js";
import { type StateSource, WatchedStates } from "../redis/watched-state.js";
import type { WaitSettings } from "../time/pending.js";
import { decodeValue } from "../values.js";

/** What became of a message. */
export type Outcome<Result = unknown> =
  | {
      readonly status: "done";
      /** What `ack(result)` stored, or what the handler returned. */
      readonly result: Result;
      /** The token of the delivery that was acknowledged. */
      readonly token: bigint;
    }
  | {
      /** It became a dead letter after its last attempt. */
      readonly status: "dead";
      readonly attempts: number;
      /** The message of the last error, or what ended the last delivery. */
      readonly reason: string;
    }
  /** `cancel()` deleted it while it waited. */
  | { readonly status: "cancelled" };

/** Reads the outcome of one message. */
export interface OutcomeSource {
  /** The key of the outcome, and the channel that tells it. */
  readonly channel: string;
  /** As Redis keeps it; null: there is none, or no more. */
  read(): Promise<string | null>;
}

export class Results {
  readonly #states: WatchedStates<string | null>;

  constructor(context: ConstructorParameters<typeof WatchedStates>[0]) {
    this.#states = new WatchedStates(context);
  }

  /** Waits for an outcome. Null: none came in time. Errors as for WatchedStates.until. */
  async wait(source: OutcomeSource, settings: WaitSettings): Promise<Outcome | null> {
    const state: StateSource<string | null> = {
      channel: source.channel,
      read: () => source.read(),
    };
    const text = await this.#states.until(state, (value) => (value === null ? null : { value }), settings);
    return text === null ? null : parseOutcome(text);
  }

  close(): void {
    this.#states.close();
  }
}

/** @throws {IndeterminateError} another program wrote it */
export function parseOutcome(text: string): Outcome {
  if (text === "cancelled") return { status: "cancelled" };
  const [, token, result] = /^done (\d{1,16}) ([jb].*)$/s.exec(text) ?? [];
  if (token && result) return { status: "done", result: decodeValue(result), token: BigInt(token) };
  const [, attempts, reason = ""] = /^dead (\d{1,15}) (.*)$/s.exec(text) ?? [];
  if (attempts) return { status: "dead", attempts: Number(attempts), reason };
  throw new IndeterminateError("Redis holds an outcome that holdfast did not write");
}
