/** Signals to one: what `emitOne` says is what happened, and nobody hears a signal that another has. */
import type { Operation } from "../../history/operation.js";
import type { Breach } from "../../history/violation.js";
import type { Caller, Found, Workload } from "./workload.js";

const waitsMs = [50, 200, 600] as const;

/** What a recipe and the library have in common. */
interface Bell {
  emitOne(data: string): Promise<boolean>;
  wait(waitMs: number): Promise<string | null>;
}

export const signal: Workload = {
  name: "signal",
  canary: "LPOP from a list of waiters, who do not take their names off it",
  join(caller) {
    const bell = caller.isNaive ? naive(caller) : library(caller);
    const key = caller.isNaive ? "canary:signal" : "bell";
    let count = 0;
    const emit = async (): Promise<void> => {
      count += 1;
      const data = `${caller.name}:${count}`;
      const found = (isTaken: boolean) => ({ value: isTaken });
      await caller.attempt("emitOne", key, () => bell.emitOne(data), { details: { nonce: data }, found });
    };
    const wait = async (): Promise<void> => {
      const waitMs = caller.dice.pick(waitsMs);
      const found = (data: string | null) => (data === null ? {} : { nonce: data });
      const withinMs = waitMs + 3 * caller.callTimeoutMs;
      await caller.attempt("wait", key, () => bell.wait(waitMs), { withinMs, found });
    };
    return {
      round: () => (caller.dice.chance(0.4) ? emit() : wait()),
      async last() {
        await caller.insist("last emitOne", key, () => bell.emitOne(`${caller.name}:last`));
      },
    };
  },
  judge,
};

function library({ hf }: Caller): Bell {
  const signal = hf.signal<string>("bell");
  return {
    emitOne: (data) => signal.emitOne(data),
    wait: async (waitMs) => (await signal.wait({ wait: waitMs }))?.data ?? null,
  };
}

/** A waiter puts its own list on the list of waiters. When its time is over, the name stays there. */
function naive({ redis, name, pause }: Caller): Bell {
  let count = 0;
  return {
    async emitOne(data) {
      const waiter = await redis.lpop("canary:signal:waiters");
      if (waiter === null) return false;
      await redis.set(waiter, data, "PX", 10_000);
      return true;
    },
    async wait(waitMs) {
      count += 1;
      const own = `canary:signal:${name}:${count}`;
      await redis.rpush("canary:signal:waiters", own);
      await redis.pexpire("canary:signal:waiters", 60_000);
      for (let waitedMs = 0; waitedMs < waitMs; waitedMs += 10) {
        const data = await redis.get(own);
        if (data !== null) return data;
        await pause(10);
      }
      return null;
    },
  };
}

function judge(found: Found): Breach[] {
  const heard = new Map<string, Operation[]>();
  for (const operation of found.operations) {
    if (operation.f !== "wait" || operation.type !== "ok" || operation.nonce === undefined) continue;
    heard.set(operation.nonce, [...(heard.get(operation.nonce) ?? []), operation]);
  }
  const emitted = found.operations.filter(({ f }) => f === "emitOne");
  return emitted.flatMap((emission) => problemOf(emission, heard.get(emission.nonce ?? "") ?? [], found));
}

function problemOf(emission: Operation, waits: readonly Operation[], found: Found): Breach[] {
  const { key, nonce, type, value, invMs, retMs } = emission;
  const breach = (property: string, message: string): Breach[] => [
    { property, key, operations: [emission, ...waits], message, atMs: retMs ?? invMs },
  ];
  const lastMs = Math.max(...waits.map((wait) => wait.retMs ?? wait.invMs));
  // A server that forgot which signals it had handed out hands one out again when a client sends it again.
  if (waits.length > 1 && !found.wasLost(invMs, lastMs))
    return breach("S2", `${waits.length} waiters heard ${nonce}`);
  if (type !== "ok") return [];
  if (value === false && waits.length > 0)
    return breach("S3", `emitOne said false, and ${waits[0]?.process} heard ${nonce}`);
  if (value !== true || waits.length > 0) return [];
  // A process that died took along what one of its waits had.
  const hasDied = [...found.deathsMs.values()].some((atMs) => atMs >= invMs);
  return hasDied ? [] : breach("S3", `emitOne said true, and nobody heard ${nonce}`);
}
