/**
 * Account: what the lock is there to protect. A balance on a server of its own; whoever pays in reads it, works, and
 * writes the sum. Two at a time, and a payment is lost: that can be counted, whatever anybody believes of the lock.
 */
import { type Duration, type Fenced, StaleTokenError } from "holdfast";
import type { Node } from "../sim/node.js";
import type { Actor } from "./actor.js";
import type { Check } from "./check.js";
import type { Possession } from "./possession.js";
import type { Trial } from "./trial.js";

/** The proof in money. */
export const noneMissing: Check = {
  title: "every payment that was confirmed is in the balance",
  find: ({ accounts, nowMs }) =>
    accounts.flatMap(({ confirmed, balance, missing }) =>
      missing === 0 ? [] : [{ message: `${confirmed} were paid in, the balance is ${balance}`, atMs: nowMs }],
    ),
};

/** How the storage answers one holder. */
export interface Door {
  readonly actor: Actor;
  readonly token: bigint;
  readonly nonce: string;
  /** Whether reading raises the fence. */
  readonly entrance: "enter" | "read";
  /** @throws {StaleTokenError} */
  read(): Promise<number>;
  /** @throws {StaleTokenError} */
  write(balance: number): Promise<void>;
}

/** Refuses a number that is smaller than the largest it has seen, as a storage with a fence does. */
const numberedWrite = `
if tonumber(ARGV[1]) < tonumber(redis.call("GET", KEYS[2]) or "0") then return 0 end
redis.call("SET", KEYS[2], ARGV[1])
redis.call("SET", KEYS[1], ARGV[2])
return 1`;

export class Account {
  readonly node: Node;
  readonly #trial: Trial;
  /** Whether the balance is in a record of holdfast. */
  #isFenced = false;
  /** What was confirmed to those who paid in. */
  confirmed = 0;
  payments = 0;
  refusals = 0;

  constructor(trial: Trial, name = "storage") {
    this.#trial = trial;
    this.node = trial.server(name, {}, "resource");
    trial.accounts.push(this);
  }

  get balance(): number {
    const found = this.#isFenced
      ? this.node.peek("HGET", "holdfast:{balance}:record:balance", "value")
      : this.node.peek("GET", "balance");
    // A record's value is JSON behind a letter.
    return Number(String(found ?? 0).replace(/^j/, ""));
  }

  get missing(): number {
    return this.confirmed - this.balance;
  }

  /** GET and SET: whoever comes is served. */
  plain(actor: Actor, { token }: Possession): Door {
    return {
      ...{ actor, token, nonce: actor.name, entrance: "read" },
      read: async () => Number(await actor.ask(this.node, ["GET", "balance"], { label: "" })),
      write: async (balance) => {
        await actor.ask(this.node, ["SET", "balance", String(balance)], { label: "" });
      },
    };
  }

  /** A fence that the recipe brings along: it compares numbers when something is written. */
  numbered(actor: Actor, token: bigint): Door {
    return {
      ...{ actor, token, nonce: actor.name, entrance: "read" },
      read: async () => Number(await actor.ask(this.node, ["GET", "balance"], { label: "" })),
      write: async (balance) => {
        const words = ["EVAL", numberedWrite, "2", "balance", "seen", String(token), String(balance)];
        if ((await actor.ask(this.node, words, { label: "" })) === 0)
          throw new StaleTokenError("balance", token, BigInt(String(this.node.peek("GET", "seen"))));
      },
    };
  }

  /**
   * holdfast's record, written with a fence.
   * @param enters raises the fence before the first read, as it should
   * @param callTimeout how long the storage may take to answer
   */
  fenced(actor: Actor, lease: Fenced, enters = true, callTimeout: Duration = "1s"): Door {
    this.#isFenced = true;
    const record = actor.holdfast(this.node, { callTimeout }).record<number>("balance");
    return {
      ...{ actor, token: lease.fence, nonce: lease.id, entrance: enters ? "enter" : "read" },
      read: async () => (await record.get(enters ? { fence: lease } : {}))?.value ?? 0,
      write: async (balance) => {
        await record.put(balance, { fence: lease });
      },
    };
  }

  /** Reads, works, writes. False: the storage refused. */
  async pay(door: Door, amount: number, work: () => void | Promise<void>): Promise<boolean> {
    const before = await this.#visit(
      door,
      door.entrance,
      door.read,
      (value) => `${door.entrance === "enter" ? "enters, " : ""}reads ${value}`,
    );
    if (before === null) return false;
    await work();
    const after = before + amount;
    const isWritten = await this.#visit(
      door,
      "write",
      () => door.write(after),
      () => `writes ${after}`,
    );
    if (isWritten === null) return false;
    this.confirmed += amount;
    this.payments += 1;
    return true;
  }

  /** One call, written down and drawn. null: refused. */
  async #visit<Value>(
    { actor, token, nonce }: Door,
    f: string,
    call: () => Promise<Value>,
    told: (value?: Value) => string,
  ): Promise<Value | null> {
    const pending = actor.recorder.begin(f, "balance", { token, nonce });
    const sentMs = actor.nowMs;
    try {
      const value = await call();
      pending.ok();
      actor.drawCall(this.node.name, sentMs, told(value));
      return value;
    } catch (error) {
      if (!(error instanceof StaleTokenError)) throw error;
      pending.fail(error.code);
      this.refusals += 1;
      const { picture } = this.#trial;
      const atMs = actor.drawCall(this.node.name, sentMs, f === "write" ? told() : "enters");
      const text = `refused: token ${picture.saw(token)} is older than ${picture.saw(error.seen)}`;
      this.#trial.mark(this.node.name, "refused", text, atMs);
      return null;
    }
  }
}
