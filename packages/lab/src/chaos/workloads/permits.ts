/** Semaphores and read-write locks: callers take permits, read, write, downgrade, and believe that they hold for as long as they may. */
import type { Lease } from "holdfast";
import { checkIntervals } from "../../history/intervals.js";
import type { Operation } from "../../history/operation.js";
import { checkTokens } from "../../history/tokens.js";
import type { Breach } from "../../history/violation.js";
import { monoMs } from "../time.js";
import type { Caller, Found, Rounds, Workload } from "./workload.js";

const ttlMs = 1_000;
const size = 2;
/** So many permits stand for the whole of a read-write lock. */
const whole = 1_000_000_000;
const keys = { semaphore: "pool", rwLock: "book", naive: "canary:pool" } as const;
const longShare = 0.1;
const lastWaitMs = 9_000;

/** What a recipe and the library have in common. */
type Held = Pick<Lease, "fence" | "id" | "valid" | "remainingMs" | "release">;

interface Wish {
  readonly key: string;
  readonly permits: number;
  readonly take: (waitMs: number) => Promise<Held | null>;
}

export const permits: Workload = {
  name: "permits",
  canary: "a zset of the holders by their own clocks, and nobody renews",
  join: (caller) => new PermitCaller(caller),
  judge,
};

class PermitCaller implements Rounds {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  async round(): Promise<void> {
    const { dice, isNaive } = this.#caller;
    const wish = isNaive ? naive(this.#caller) : this.#draw();
    const held = await this.#acquire(wish, dice.pick([0, 300, 1_500]));
    if (!held) return;
    const isLong = dice.chance(isNaive ? 0.8 : longShare);
    await this.#hold(wish, held, dice.between(0, isLong ? 2 * ttlMs : 60));
    if (wish.permits === whole && dice.chance(0.4)) await this.#downgrade(wish, held as Lease);
    await this.#call("release", wish.key, () => held.release(), held.fence);
  }

  /** Once the faults are over, everybody has all permits in turn, and writes. */
  async last(): Promise<void> {
    const all = this.#caller.isNaive ? [naive(this.#caller)] : [this.#pool(size), this.#book(whole)];
    for (const wish of all) {
      const held = await this.#caller.insist(`last acquire`, wish.key, () => wish.take(lastWaitMs));
      await held?.release();
      if (!held && !this.#caller.isNaive)
        throw new Error(`${this.#caller.name} was not served within ${lastWaitMs} ms of all faults`);
    }
  }

  #draw(): Wish {
    const { dice } = this.#caller;
    return dice.chance(0.5) ? this.#pool(dice.pick([1, 1, size])) : this.#book(dice.pick([1, 1, whole]));
  }

  #pool(count: number): Wish {
    const semaphore = this.#caller.hf.semaphore(keys.semaphore, { permits: size, ttl: ttlMs });
    const take = (wait: number) =>
      wait === 0 ? semaphore.tryAcquire({ permits: count }) : semaphore.acquire({ permits: count, wait });
    return { key: keys.semaphore, permits: count, take };
  }

  #book(count: number): Wish {
    const lock = this.#caller.hf.rwLock(keys.rwLock, { ttl: ttlMs });
    const side = count === whole ? lock.write() : lock.read();
    const take = (wait: number) => (wait === 0 ? side.tryAcquire() : side.acquire({ wait }));
    return { key: keys.rwLock, permits: count, take };
  }

  async #acquire({ key, permits: count, take }: Wish, waitMs: number): Promise<Held | null> {
    const attempt = await this.#caller.attempt("acquire", key, () => take(waitMs), {
      withinMs: waitMs + 2 * this.#caller.callTimeoutMs,
      details: { value: count },
      found: (held) => (held ? { token: held.fence, nonce: held.id } : {}),
    });
    return attempt.type === "ok" ? attempt.value : null;
  }

  /** Written down as long as it is seen to be valid. */
  async #hold(
    { key, permits: count }: Pick<Wish, "key" | "permits">,
    held: Held,
    forMs: number,
  ): Promise<void> {
    const { recorder, dice } = this.#caller;
    let validMs = monoMs();
    const validUntilMs = validMs + held.remainingMs;
    const about = { token: held.fence, nonce: held.id, validUntilMs, value: count };
    const pending = recorder.begin("hold", key, about);
    const untilMs = validMs + forMs;
    for (;;) {
      const lookedMs = monoMs();
      if (!held.valid) break;
      validMs = lookedMs;
      if (lookedMs >= untilMs) break;
      await this.#caller.pause(dice.between(1, 30));
    }
    pending.ok({ endMs: validMs });
  }

  /** From the moment at which it asks for it, it only reads. */
  async #downgrade({ key }: Wish, lease: Lease): Promise<void> {
    if (!lease.valid) return;
    await this.#call(
      "downgrade",
      key,
      () => this.#caller.hf.rwLock(key).write().downgrade(lease),
      lease.fence,
    );
    await this.#hold({ key, permits: 1 }, lease, this.#caller.dice.between(0, 60));
  }

  async #call(f: string, key: string, call: () => Promise<unknown>, token: bigint): Promise<void> {
    await this.#caller.attempt(f, key, call, {
      withinMs: 3 * this.#caller.callTimeoutMs,
      details: { token },
    });
  }
}

/** Whoever is among the first holders by the time that each wrote down holds, for as long as he likes. */
function naive({ redis, name }: Caller): Wish {
  const key = keys.naive;
  const take = async (): Promise<Held | null> => {
    const nowMs = monoMs();
    const id = `${name} ${nowMs}`;
    await redis.zremrangebyscore(key, 0, nowMs - ttlMs);
    await redis.zadd(key, nowMs, id);
    await redis.pexpire(key, 10 * ttlMs);
    const rank = await redis.zrank(key, id);
    let isValid = rank !== null && rank < size;
    const release = async () => {
      isValid = false;
      await redis.zrem(key, id);
      return "released" as const;
    };
    if (!isValid) await release();
    const remainingMs = 2 * ttlMs;
    const held: Held = {
      ...{ id, remainingMs, release, fence: BigInt(Math.round(nowMs * 1_000)) },
      get valid() {
        return isValid;
      },
    };
    return isValid ? held : null;
  };
  return { key, permits: 1, take };
}

/** Tokens are unique and rise between those who exclude each other, and no more is held than there is, while the server keeps its data and its clock. */
function judge(found: Found): Breach[] {
  const deathsMs = new Map(
    found.operations.map(({ process }) => [process, found.deathsMs.get(workerOf(process)) ?? Infinity]),
  );
  return found.stretches().flatMap((kept) => {
    const acquired = kept.filter(({ f, token }) => f === "acquire" && token !== undefined);
    const nonces = new Set(acquired.map(({ nonce }) => nonce));
    // Who was granted some before the server forgot may hold them beside whoever was granted some after.
    const holds = kept.filter(({ f, nonce }) => f === "hold" && nonces.has(nonce)).map(ended);
    return [
      ...checkTokens(acquired, {
        isWhole: ({ key, value }) => value === (key === keys.rwLock ? whole : size),
      }),
      ...Object.values(keys).flatMap((key) =>
        checkIntervals(
          holds.filter((hold) => hold.key === key),
          { deathsMs, limit: key === keys.rwLock ? whole : size, permitsOf: ({ value }) => Number(value) },
        ),
      ),
    ];
  });
}

/** One that its process did not end, because it died, was valid until its first lease said, at least. */
function ended(hold: Operation): Operation {
  return hold.endMs === undefined ? { ...hold, endMs: hold.validUntilMs ?? hold.invMs } : hold;
}

function workerOf(process: string): string {
  return process.slice(0, process.lastIndexOf("."));
}
