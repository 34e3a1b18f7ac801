/** A client of one engine, without a network: it has its answer at once. */
import type { SimulatedValkey, ValkeyConnection } from "@holdfast/embedded";
import { encode, type Reply, ReplyReader } from "../../src/sim/resp.js";

export class EngineClient {
  readonly #valkey: SimulatedValkey;
  readonly #connection: ValkeyConnection;
  readonly #reader = new ReplyReader();
  #replies: Reply[] = [];

  constructor(valkey: SimulatedValkey) {
    this.#valkey = valkey;
    this.#connection = valkey.connect({
      receive: (bytes) => {
        this.#replies.push(...this.#reader.read(bytes));
      },
    });
  }

  ask(words: readonly string[]): Reply {
    this.#replies = [];
    this.#connection.push(encode(words));
    this.#valkey.pump();
    const [reply] = this.#replies;
    if (reply === undefined) throw new Error(`no reply to ${words[0]}`);
    return reply;
  }
}
