/** Payer: somebody who pays into an account under a lock: holdfast's mutex, as the guides teach it, or a recipe. */
import { type Duration, type Lease, LeaseLostError, type MutexOptions } from "holdfast";
import type { Node } from "../sim/node.js";
import type { SimClientOptions } from "../sim/sim-client.js";
import type { Account } from "./account.js";
import type { Actor } from "./actor.js";
import { deleteOwn, setNx } from "./recipes.js";

export interface Payment {
  readonly amount: number;
  readonly ttlMs: number;
  /** When it asks for the lock. @default 0 */
  readonly atMs?: number;
  /** Between reading and writing. */
  readonly work?: () => void | Promise<void>;
  /** The worst moment: after the last look at the lease, before the write is sent. */
  readonly afterCheck?: () => void;
  /** For how long the lease is renewed, by a lock that renews leases. @default as long as the work takes */
  readonly maxHold?: Duration;
  /** How long the storage may take to answer. @default "1s" */
  readonly storageTimeout?: Duration;
}

export interface MutexPayment extends Payment {
  readonly options?: Omit<MutexOptions, "ttlMs">;
  readonly client?: SimClientOptions;
  /** Raises the storage's fence before the first read. @default true */
  readonly enters?: boolean;
}

/** The steps of it, for people. */
export const mutexSteps = [
  'lease = await hf.mutex("lock").acquire()',
  "await record.get({ fence: lease })       reads; the storage now refuses older tokens",
  "lease.check()                           throws once the lease is over",
  "await record.put(sum, { fence: lease }) the token of the lease goes along",
  "await lease.release()",
];

export const setNxSteps = [
  "SET lock <me> NX PX 10000               OK: the lock is mine for 10 s",
  "GET balance … SET balance <sum>         the work",
  "if GET lock is <me> then DEL lock",
];

/** Starts it. */
export function payUnderMutex(actor: Actor, redis: Node, account: Account, payment: MutexPayment): void {
  const { ttlMs, atMs = 0, options, client } = payment;
  actor.run(async () => {
    await actor.sleep(atMs);
    const hf = actor.holdfast(redis, client ? { client } : {});
    const lease = await actor.acquire(hf.mutex("lock", { ttl: ttlMs, ...options }), redis, { wait: 600_000 });
    await payUnderLease(actor, account, payment, lease);
    await actor.release(lease, redis);
  });
}

/** Reads, works, looks at the lease, writes. Stops before it writes where the lease is over. */
export async function payUnderLease(
  actor: Actor,
  account: Account,
  { amount, work, afterCheck, enters, storageTimeout }: MutexPayment,
  lease: Lease,
): Promise<void> {
  const held = actor.possess({ key: "lock", lease });
  try {
    await account.pay(account.fenced(actor, lease, enters, storageTimeout), amount, async () => {
      await work?.();
      lease.check();
      afterCheck?.();
    });
  } catch (error) {
    if (!(error instanceof LeaseLostError)) throw error;
    actor.trial.count("checks that threw");
    const text = `lease.check() throws: ${actor.name} stops before it writes`;
    actor.trial.mark(actor.name, "note", text, actor.nowMs);
  }
  held.end();
}

/** Starts it, with SET NX PX in the place of the mutex. */
export function payUnderSetNx(actor: Actor, redis: Node, account: Account, payment: Payment): void {
  const { amount, ttlMs, atMs = 0, work, afterCheck } = payment;
  actor.run(async () => {
    await actor.sleep(atMs);
    const held = await setNx(actor, redis, "lock", ttlMs);
    await account.pay(account.plain(actor, held), amount, async () => {
      await work?.();
      afterCheck?.();
    });
    held.end();
    await deleteOwn(actor, redis, "lock");
  });
}
