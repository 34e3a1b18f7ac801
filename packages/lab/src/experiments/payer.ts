/** Payer: somebody who pays into an account under holdfast's mutex, as the guides teach it. */
import type { MutexOptions } from "holdfast";
import type { Node } from "../sim/node.js";
import type { SimClientOptions } from "../sim/sim-client.js";
import type { Account } from "./account.js";
import type { Actor } from "./actor.js";

export interface PayOptions extends MutexOptions {
  readonly amount: number;
  /** Between reading and writing; the last thing before `check()`. */
  readonly work?: () => void | Promise<void>;
  /** The worst moment: after `check()`, before the write is sent. */
  readonly afterCheck?: () => void;
  readonly waitMs?: number;
  readonly callTimeoutMs?: number;
  readonly client?: SimClientOptions;
}

/** The steps of it, for people. */
export const steps = [
  'lease = await hf.mutex("lock").acquire()',
  "balance = await record.enter(lease)     the storage now refuses older tokens",
  "lease.check()                           throws once the lease is over",
  "await record.write(lease, sum)          the token of the lease goes along",
  "await lease.release()",
];

/** Whether it was written down in the account. */
export async function payUnderMutex(
  actor: Actor,
  redis: Node,
  account: Account,
  { amount, work, afterCheck, waitMs = 60_000, callTimeoutMs = 1_000, client, ...options }: PayOptions,
): Promise<boolean> {
  const hf = actor.holdfast(redis, { callTimeoutMs, ...(client ? { client } : {}) });
  const lease = await actor.acquire(hf.mutex("lock", options), redis, { waitMs });
  const held = actor.possess({ key: "lock", lease });
  const isPaid = await account.pay(account.fenced(actor, lease), amount, async () => {
    await work?.();
    lease.check();
    afterCheck?.();
  });
  held.end();
  await actor.release(lease, redis);
  return isPaid;
}
