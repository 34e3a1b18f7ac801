/** Confirms: the confirms to one node. Those of one turn of the event loop travel together, in chunks. */
import type { RedisContext } from "../../../redis/context.js";
import { lockKey } from "../../../redis/keys.js";
import type { Reply } from "../../../redis/port.js";
import { replyRow } from "../../../redis/reply.js";
import { Batcher } from "../../../time/batcher.js";
import { script as confirmScript } from "./lua/confirm.lua.js";

/** A grant of the node, and the last token that its quorum reserves. */
export interface Confirm {
  readonly name: string;
  readonly id: string;
  readonly stamp: bigint;
  readonly last: bigint;
  readonly limitMs: number;
}

interface Waiting extends Confirm {
  readonly resolve: (confirmed: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** As many as are acquired in one call. */
const CHUNK = 16;
const CONFIRMED = 1;

export class Confirms {
  readonly #context: Pick<RedisContext, "port" | "prefix">;
  readonly #batch = new Batcher<Waiting>(CHUNK, (confirms) => void this.#send(confirms));

  constructor(context: Pick<RedisContext, "port" | "prefix">) {
    this.#context = context;
  }

  /** Resolves to whether the node holds the lock under that grant still, and hands out larger tokens only. Rejects when unknown. */
  add(confirm: Confirm): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#batch.add({ ...confirm, resolve, reject });
    });
  }

  async #send(confirms: readonly Waiting[]): Promise<void> {
    const { port, prefix } = this.#context;
    const keys = confirms.map(({ name }) => lockKey(prefix, name));
    const args = confirms.flatMap(({ id, stamp, last }) => [id, String(stamp), String(last)]);
    const limitMs = Math.min(...confirms.map((each) => each.limitMs));
    let row: readonly Reply[];
    try {
      row = replyRow(await port.script(confirmScript, keys, args, limitMs), confirms.length + 1);
      if (row[confirms.length] !== args[0]) replyRow(undefined); // throws: an answer to another call
    } catch (error) {
      for (const { reject } of confirms) reject(error);
      return;
    }
    for (const [place, { resolve }] of confirms.entries()) resolve(Number(row[place]) === CONFIRMED);
  }
}
