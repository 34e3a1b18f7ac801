/**
 * Backlog: the calls that wait for a client that is not connected. They wait here and not in the client's own queue, so that a call
 * whose time is up meanwhile was not sent, and will not be.
 *
 * One PING waits in the client in their place. It makes a client connect that connects when it is first used. Its answer says that
 * the client is connected, and its error is the one that each call would have met.
 */
import type { RedisClient } from "./client.js";

interface BacklogParts<Call> {
  readonly client: Pick<RedisClient, "send" | "trouble">;
  /** The client is connected. */
  readonly send: (calls: readonly Call[]) => void;
  /** The client rejected the PING. */
  readonly refuse: (calls: readonly Call[], error: unknown) => void;
}

export class Backlog<Call> {
  readonly #parts: BacklogParts<Call>;
  /** In the order in which they were made. */
  readonly #calls = new Set<Call>();
  #isProbing = false;
  #failure: unknown = null;

  constructor(parts: BacklogParts<Call>) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** The client's last rejection of a PING; null: there was none. */
  get failure(): unknown {
    return this.#failure;
  }

  add(calls: readonly Call[]): void {
    for (const call of calls) this.#calls.add(call);
    this.probe();
  }

  /** Has a client connect that connects when it is first used. */
  probe(): void {
    if (!this.#isProbing) void this.#probe();
  }

  /** Returns whether it waited here. */
  delete(call: Call): boolean {
    return this.#calls.delete(call);
  }

  /** Hands all calls over, in their order. */
  flush(): void {
    if (this.#calls.size > 0) this.#parts.send(this.takeAll());
  }

  takeAll(): readonly Call[] {
    const calls = [...this.#calls];
    this.#calls.clear();
    return calls;
  }

  async #probe(): Promise<void> {
    const { client, refuse } = this.#parts;
    this.#isProbing = true;
    try {
      await client.send([["PING"]])[0];
      this.#failure = null;
      this.#isProbing = false;
      this.flush();
    } catch (error) {
      this.#failure = error;
      this.#isProbing = false;
      // A server that refuses a PING has answered: each call gets an answer of its own.
      if (client.trouble() === null) this.flush();
      else refuse(this.takeAll(), error);
    }
  }
}
