/** A client of one engine, without a network: it has its answers at once. */
import type { SimulatedValkey, ValkeyConnection } from "@holdfast/embedded";
import { encode, type Reply, ReplyReader } from "../src/sim/resp.js";

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
    const [reply] = this.askAll([words]);
    if (reply === undefined) throw new Error(`no reply to ${words[0]}`);
    return reply;
  }

  /** The same for several, as quick as for one. What came in before is dropped. */
  askAll(commands: readonly (readonly string[])[]): Reply[] {
    this.#replies = [];
    this.#connection.push(Buffer.concat(commands.map(encode)));
    this.#valkey.pump();
    return this.take();
  }

  /** What came in since: messages. */
  take(): Reply[] {
    const replies = this.#replies;
    this.#replies = [];
    return replies;
  }
}
