/** Semaphores and read-write locks: callers take one permit or all, read, write, downgrade, and change the number of permits. */
import type { Operation } from "../../../history/operation.js";
import type { Scene, Work, Workload } from "../workload.js";
import { allPermits, Beliefs, keyOf } from "./permits/beliefs.js";
import { PermitCaller, type Run, settleMs } from "./permits/caller.js";
import { misplaced } from "./permits/places.js";
import { judgePlaces } from "./places.js";

const names = { semaphore: "pool", rwlock: "book" } as const;
const nouns = Object.entries(names) as ["semaphore" | "rwlock", string][];
const parts = ["", ":line", ":waiters", ":banned"] as const;
/** A claim may be as much older than the caller that it serves first, whose place an earlier caller had. */
const spareMs = 50;
const scripts = "locks/backends/redis/permits/lua";

export const permits: Workload = {
  name: "permits",
  about: "callers take permits of a semaphore, read and write under a read-write lock, and give back",
  rules: {
    M1: "never more permits are out than there are",
    M2: "nobody reads or writes beside a writer",
    M3: "no two have the same token, and tokens rise between those who cannot hold at the same time",
    M4: "nobody starves: a claim in line is served before those that come later, and serves no more local turns than it may",
    M5: "what nobody wants any more is free",
    M6: "while a process believes that it holds permits, the node holds them for it",
    M7: "a forced release ends the lease that has the token, and no other",
    M8: "the permits that are out are those of the leases, and each waiter in line has a record",
  },
  invariants: {
    "`used` is the sum of the leases, and never above the limit unless that was lowered": "M8",
    "the line and the records of its waiters name the same requests, and the flag is up while there are any":
      "M8",
    "tokens rise between those who cannot hold at the same time": "M3",
  },
  canaries: [
    {
      rule: "M1",
      what: "permits are not counted",
      seed: 2,
      change: {
        file: `${scripts}/_permits.lua`,
        from: "p.used + weight <= p.limit",
        to: "weight <= p.limit",
      },
    },
    {
      rule: "M2",
      what: "a writer takes one permit",
      seed: 1,
      change: {
        file: "locks/backends/redis/permits/permit-scripts.ts",
        from: 'mode === "exclusive" ? permits : weight',
        to: "weight",
      },
    },
    {
      rule: "M3",
      what: "tokens are the time alone",
      seed: 7,
      change: {
        file: "locks/backends/redis/lua/_token.lua",
        from: "if token <= top then",
        to: "if false then",
      },
    },
    {
      rule: "M4",
      what: "whoever can be served is served",
      seed: 36,
      change: {
        file: `${scripts}/_permits.lua`,
        from: "elseif not fits(p, waiter.turns) then\n      return served, true",
        to: "elseif not fits(p, waiter.turns) then\n      place = place + 1",
      },
    },
    {
      rule: "M4",
      what: "a claim is passed on for ever",
      seed: 2,
      change: { file: "locks/possession.ts", from: "hold.turnsLeft === 0", to: "false" },
    },
    {
      rule: "M2",
      what: "a lease that was downgraded is passed on to a writer",
      seed: 207,
      change: { file: "locks/permits.ts", from: "line?.stopPassingOn(id);", to: "" },
    },
    {
      rule: "M3",
      what: "a claim in line reserves one token",
      seed: 232,
      change: {
        file: `${scripts}/_permits.lua`,
        from: "request.tokens or 1, request.owner",
        to: "1, request.owner",
      },
    },
    {
      rule: "M5",
      what: "a release removes nothing",
      seed: 4,
      change: { file: `${scripts}/change.lua`, from: "keep == 0 and id or ''", to: "''" },
    },
    {
      rule: "M6",
      what: "a renewal moves no end",
      seed: 1,
      change: {
        file: `${scripts}/renew.lua`,
        from: "text(ms + tonumber(ttl_ms)) .. rest",
        to: "end_ms .. rest",
      },
    },
    {
      rule: "M7",
      what: "a holder is known by its first token alone",
      seed: 62,
      change: {
        file: `${scripts}/revoke.lua`,
        from: "(tonumber(owner.tokens) or 1) - 1",
        to: "0",
      },
    },
    {
      rule: "M8",
      what: "a lease that gives back a part still counts for all",
      seed: 2,
      change: {
        file: `${scripts}/change.lua`,
        from: "p.used = p.used - (lease.weight - keep)",
        to: "p.used = keep == 0 and p.used - lease.weight or p.used",
      },
    },
    {
      rule: "M8",
      what: "the record of a waiter stays when it is served",
      seed: 1,
      change: {
        file: "locks/backends/redis/lua/_waiters.lua",
        from: "redis.call('HDEL', keys.waiters, id)",
        to: "",
      },
    },
  ],
  begin,
};

function begin(scene: Scene): Work {
  const dice = scene.world.dice("permits");
  const size = dice.pick([2, 3, 5]);
  const mostPermits = dice.chance(0.3) ? size + 1 : null;
  const beliefs = new Beliefs(scene, (noun) => (noun === "rwlock" ? allPermits : (mostPermits ?? size)));
  const run: Run = {
    scene,
    beliefs,
    semaphore: names.semaphore,
    rwLock: names.rwlock,
    permits: size,
    mostPermits,
    localTurns: dice.pick([1, 3, 16]),
    maxHoldMs: scene.world.dice("longest hold").chance(0.15) ? 400 : null,
    revokes: scene.world.dice("revoke").chance(0.6),
  };
  const line = new LineWatch(scene, run.localTurns);
  return {
    join: (caller) => new PermitCaller(caller, run),
    look() {
      line.look();
      for (const [noun, name] of nouns)
        judgePlaces(scene, "M8", () => misplaced(scene.node, keyOf(noun, name)));
    },
    left: () => judgeLeft(scene),
    judge() {
      for (const name of Object.values(names)) {
        const granted = scene.history.operations.filter(
          ({ f, key, type, token }) =>
            f === "acquire" && key === name && type === "ok" && token !== undefined,
        );
        const most = name === names.rwlock ? allPermits : (mostPermits ?? size);
        judgeTokens(scene, granted, most);
        line.judge(granted, mostPermits === null || name === names.rwlock);
      }
    },
    progress: () => beliefs.count,
    lastMs: (scene.keptMs + settleMs) * 4,
    evictable: () =>
      parts.map((part) => ({
        keys: [keyOf("semaphore", names.semaphore) + part, keyOf("rwlock", names.rwlock) + part],
        isData: part === "",
      })),
  };
}

/** M5: no lease is live. */
function judgeLeft(scene: Scene): void {
  for (const [noun, name] of nouns) {
    const [fields, time] = scene.node.peekAll(["HGETALL", keyOf(noun, name)], ["TIME"]);
    const nowMs = Array.isArray(time) ? Number(time[0]) * 1_000 : 0;
    const words = Array.isArray(fields) ? fields.map(String) : [];
    for (let place = 0; place < words.length; place += 2) {
      const endMs = Number(/^\d+/.exec(words[place + 1] ?? "")?.[0]);
      if (words[place] !== "." && endMs > nowMs + 1_000)
        scene.fail("M5", `"${name}" is still held by ${words[place]}, which nobody wants`);
    }
  }
}

/**
 * M3: no two have the same, and who asked after another had been served has the larger one, if the two cannot hold at the same time:
 * beside each other, a claim that was granted before may have turns left.
 */
function judgeTokens(scene: Scene, granted: readonly Operation[], most: number): void {
  for (const one of granted) {
    for (const other of granted) {
      if (one === other || one.retMs === null || scene.wasLost(one.invMs, other.retMs ?? undefined)) continue;
      const [before, after] = [one.token as bigint, other.token as bigint];
      const areApart = one.nonce === other.nonce || Number(one.value) + Number(other.value) > most;
      const isWrong =
        one.retMs < other.invMs && areApart ? before >= after : before === after && one.invMs <= other.invMs;
      if (isWrong)
        scene.fail(
          "M3",
          `${other.process} was granted ${after} after ${one.process} had ${before}`,
          other.invMs,
          [one, other],
        );
    }
  }
}

/** LineWatch: since when each claim has stood in line at the node. */
class LineWatch {
  readonly #scene: Scene;
  readonly #localTurns: number;
  readonly #sinceMs = new Map<string, number>();

  constructor(scene: Scene, localTurns: number) {
    this.#scene = scene;
    this.#localTurns = localTurns;
  }

  look(): void {
    const { node, world } = this.#scene;
    for (const [noun, name] of nouns) {
      const ids = node.peek("ZRANGE", `${keyOf(noun, name)}:line`, "0", "-1");
      for (const id of Array.isArray(ids) ? ids : [])
        if (!this.#sinceMs.has(String(id))) this.#sinceMs.set(String(id), world.nowMs);
    }
  }

  /** @param isFirstCome whether the permits were enough for every claim at all times */
  judge(granted: readonly Operation[], isFirstCome: boolean): void {
    const claims = this.#claims(granted);
    for (const turns of claims)
      if (turns.length > this.#localTurns)
        this.#scene.fail(
          "M4",
          `a claim served ${turns.length} local turns of ${this.#localTurns}`,
          (turns[0] as Operation).invMs,
          turns,
        );
    if (isFirstCome) this.#judgeOrder(claims.map(([first]) => first as Operation));
  }

  /** The local turns of each claim, in their order. */
  #claims(granted: readonly Operation[]): Operation[][] {
    const claims = new Map<string, Operation[]>();
    for (const turn of granted.toSorted((one, other) =>
      Number((one.token as bigint) - (other.token as bigint)),
    )) {
      const id = String(turn.nonce);
      claims.set(id, [...(claims.get(id) ?? []), turn]);
    }
    return [...claims.values()];
  }

  /** In calm, a claim that was made after another stood in line is granted after it. */
  #judgeOrder(firsts: readonly Operation[]): void {
    const { calmFromMs } = this.#scene;
    for (const first of firsts) {
      const sinceMs = this.#sinceMs.get(String(first.nonce));
      if (sinceMs === undefined || sinceMs < calmFromMs) continue;
      for (const later of firsts) {
        const madeMs = Math.min(later.invMs - spareMs, this.#sinceMs.get(String(later.nonce)) ?? Infinity);
        if (madeMs > sinceMs && (later.token as bigint) < (first.token as bigint))
          this.#scene.fail(
            "M4",
            `the claim of ${first.process} stood in line, and that of ${later.process}, which came later, was served before it`,
            later.invMs,
            [first, later],
          );
      }
    }
  }
}
