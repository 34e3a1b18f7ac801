/**
 * Renewals: extends leases by one script for many, in batches of one slot. One name that the server refuses to touch must not cost the
 * others their leases: a refused batch is split.
 */
import { ServerError } from "../../../errors.js";
import type { RenewOutcome } from "../../../lease/keeper.js";
import type { RedisContext } from "../../../redis/context.js";
import { replyRow } from "../../../redis/reply.js";
import type { Script } from "../../../redis/script.js";
import { groupBySlot } from "../../../redis/slots.js";
import { publish } from "../../../telemetry/events.js";
import type { Holder } from "../../backend.js";

const RENEWED = 1;
const UNKNOWN_LOCK = -1;

export class Renewals {
  readonly #context: Pick<RedisContext, "port" | "callTimeoutMs">;
  readonly #script: Script;
  readonly #keyOf: (name: string) => string;

  /** @param script takes a key and an id for each lease, and returns a code for each, and the first id */
  constructor(
    context: Pick<RedisContext, "port" | "callTimeoutMs">,
    script: Script,
    keyOf: (name: string) => string,
  ) {
    this.#context = context;
    this.#script = script;
    this.#keyOf = keyOf;
  }

  /** Rejects when all outcomes are unknown. */
  async renew(holders: readonly Holder[], timeoutMs: number): Promise<readonly RenewOutcome[]> {
    const groups = groupBySlot(holders, ({ name }) => this.#context.port.slotOf(this.#keyOf(name)));
    if (groups.length === 1) return this.#renewOrSplit(holders, timeoutMs);
    return this.#renewEach(holders, groups, timeoutMs);
  }

  async #renewOrSplit(holders: readonly Holder[], timeoutMs: number): Promise<readonly RenewOutcome[]> {
    try {
      return await this.#renew(holders, timeoutMs);
    } catch (error) {
      if (!(error instanceof ServerError) || error.passing || holders.length === 1) throw error;
      const middle = holders.length >> 1;
      return this.#renewEach(holders, [holders.slice(0, middle), holders.slice(middle)], timeoutMs);
    }
  }

  async #renewEach(
    holders: readonly Holder[],
    batches: readonly (readonly Holder[])[],
    timeoutMs: number,
  ): Promise<readonly RenewOutcome[]> {
    const outcomes = new Map<Holder, RenewOutcome>();
    const settled = await Promise.allSettled(batches.map((batch) => this.#renewOrSplit(batch, timeoutMs)));
    for (const [place, batch] of batches.entries()) {
      const result = settled[place];
      if (result?.status !== "fulfilled") continue;
      for (const [at, holder] of batch.entries()) outcomes.set(holder, result.value[at] ?? "unknown");
    }
    return holders.map((holder) => outcomes.get(holder) ?? "unknown");
  }

  async #renew(holders: readonly Holder[], timeoutMs: number): Promise<readonly RenewOutcome[]> {
    const { port, callTimeoutMs } = this.#context;
    const keys = holders.map(({ name }) => this.#keyOf(name));
    const ids = holders.map(({ id }) => id);
    const reply = await port.script(this.#script, keys, ids, Math.min(timeoutMs, callTimeoutMs));
    const row = replyRow(reply, holders.length + 1);
    if (row[holders.length] !== ids[0]) replyRow(undefined); // throws: an answer to another call
    return holders.map(({ name }, place) => renewOutcome(name, Number(row[place])));
  }
}

function renewOutcome(lock: string, code: number): RenewOutcome {
  if (code === RENEWED) return "renewed";
  if (code !== UNKNOWN_LOCK) return "lost";
  publish("holdfast:server:forgot", () => ({ what: "lock", lock }));
  return "forgotten";
}
