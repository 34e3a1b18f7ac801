/** Locks over three servers, of which one suffers every fault: callers take one lock, and believe that they hold it as long as they may. */
import type { Lease } from "holdfast";
import { checkIntervals } from "../../history/intervals.js";
import type { Operation } from "../../history/operation.js";
import { checkTokens } from "../../history/tokens.js";
import type { Breach } from "../../history/violation.js";
import { monoMs } from "../time.js";
import { nodesTtlMs } from "../worker/nodes.js";
import type { Caller, Found, Rounds, Workload } from "./workload.js";

const lastWaitMs = 9_000;
const longShare = 0.1;

/** What a recipe and the library have in common. */
type Taken = Pick<Lease, "fence" | "id" | "valid" | "remainingMs" | "release">;

export const redlock: Workload = {
  name: "redlock",
  canary: "SET NX at each server, a majority of them, and a counter of the first for a token",
  join: (caller) => new Locker(caller),
  judge,
};

class Locker implements Rounds {
  readonly #caller: Caller;
  readonly #key: string;
  readonly #take: (waitMs: number) => Promise<Taken | null>;

  constructor(caller: Caller) {
    this.#caller = caller;
    this.#key = caller.isNaive ? "canary:shelf" : "shelf";
    const mutex = caller.nodes.redlock.mutex("shelf", { ttl: nodesTtlMs });
    this.#take = caller.isNaive ? fiveSteps(caller) : (wait) => mutex.acquire({ wait });
  }

  async round(): Promise<void> {
    const { dice, callTimeoutMs } = this.#caller;
    const waitMs = dice.pick([0, 300, 1_500]);
    const attempt = await this.#caller.attempt("acquire", this.#key, () => this.#take(waitMs), {
      withinMs: waitMs + 5 * callTimeoutMs,
      found: (lease) => (lease ? { token: lease.fence, nonce: lease.id } : {}),
    });
    if (attempt.type !== "ok" || !attempt.value) return;
    const lease = attempt.value;
    await this.#hold(lease, dice.between(0, dice.chance(longShare) ? 2 * nodesTtlMs : 30));
    const details = { token: lease.fence };
    await this.#caller.attempt("release", this.#key, () => lease.release(), {
      withinMs: 6 * callTimeoutMs,
      details,
    });
  }

  /** Once the faults are over, everybody has it in turn. */
  async last(): Promise<void> {
    const lease = await this.#caller.insist("last acquire", this.#key, () => this.#take(lastWaitMs));
    await lease?.release();
  }

  /** Written down as long as it is seen to be valid. */
  async #hold(lease: Taken, forMs: number): Promise<void> {
    const { recorder, dice } = this.#caller;
    let validMs = monoMs();
    const validUntilMs = validMs + lease.remainingMs;
    const pending = recorder.begin("hold", this.#key, { token: lease.fence, nonce: lease.id, validUntilMs });
    const untilMs = validMs + forMs;
    for (;;) {
      const lookedMs = monoMs();
      if (!lease.valid) break;
      validMs = lookedMs;
      if (lookedMs >= untilMs) break;
      await this.#caller.pause(dice.between(1, 30));
    }
    pending.ok({ endMs: validMs });
  }
}

/** As it is often written down: its lease counts from when a majority has answered, and its token is a number of one server. */
function fiveSteps({ nodes: { clients }, name }: Caller): (waitMs: number) => Promise<Taken | null> {
  const key = "canary:shelf";
  let turns = 0;
  return async () => {
    turns += 1;
    const id = `${name} ${turns}`;
    const release = async (): Promise<"released"> => {
      await Promise.allSettled(
        clients.map(async (client) => ((await client.get(key)) === id ? client.del(key) : 0)),
      );
      return "released";
    };
    const answers = await Promise.allSettled(
      clients.map((client) => client.set(key, id, "PX", nodesTtlMs, "NX")),
    );
    const votes = answers.filter((answer) => answer.status === "fulfilled" && answer.value === "OK").length;
    if (votes <= clients.length / 2) {
      await release();
      return null;
    }
    const count = Number(await clients[0]?.incr(`${key}:token`));
    await clients[0]?.pexpire(`${key}:token`, 60 * nodesTtlMs);
    const endMs = monoMs() + nodesTtlMs;
    let isOver = false;
    return {
      fence: BigInt(count),
      id,
      get valid() {
        return !isOver && monoMs() < endMs;
      },
      get remainingMs() {
        return Math.max(endMs - monoMs(), 0);
      },
      release() {
        isOver = true;
        return release();
      },
    };
  };
}

/** Tokens are unique and rise, and nobody holds beside another, while the server keeps its data and its clock; and somebody got it. */
function judge(found: Found): Breach[] {
  const workers = found.operations.map(({ process }) => process);
  const deathsMs = new Map(workers.map((name) => [name, found.deathsMs.get(workerOf(name)) ?? Infinity]));
  return found.stretches().flatMap((kept) => {
    const granted = kept.filter(({ f, token }) => f === "acquire" && token !== undefined);
    const nonces = new Set(granted.map(({ nonce }) => nonce));
    // Who was granted it before the server forgot may hold beside whoever was granted it after.
    const holds = kept.filter(({ f, nonce }) => f === "hold" && nonces.has(nonce));
    return [...checkTokens(granted), ...checkIntervals(holds.map(ended), { deathsMs })];
  });
}

/** One that its process did not end, because it died, was valid until its first lease said, at least. */
function ended(hold: Operation): Operation {
  return hold.endMs === undefined ? { ...hold, endMs: hold.validUntilMs ?? hold.invMs } : hold;
}

function workerOf(process: string): string {
  return process.slice(0, process.lastIndexOf("."));
}
