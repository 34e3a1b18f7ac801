/** The family of locks together: owners nest them in any order, enter again, take several at once, hand over and adopt. */
import type { LockNoun } from "holdfast";
import type { Scene, Work, Workload } from "../workload.js";
import { FamilyCaller, lastMs, names, type Run } from "./family/caller.js";
import { Ledger } from "./family/ledger.js";
import { keysOf, toHolder } from "./mutex/node-state.js";

/** The library promises a second or so; looks may miss each other a few times. */
const longestCircleMs = 3_000;

export const family: Workload = {
  name: "family",
  about:
    "owners nest locks of all kinds in any order, enter again, take several at once, hand over and adopt",
  rules: {
    C1: "no circle of waits lasts without an error",
    C2: "no error without a circle",
    C3: "several at once: all or none",
    C4: "an adopted fence is larger, and nobody held in between",
    C5: "a re-entry keeps the fence and ends only itself",
    C6: "work that is done is not done again",
    C7: "never more hold than there is room",
    C8: "of two attempts of one turn for a free name, one gets it",
  },
  invariants: {
    "of several locks a call has all or none": "C3",
    "a lease that was handed over is in one hand, with a larger fence": "C4",
  },
  canaries: [
    { rule: "C4", what: "a release, and an acquire by the other", seed: 1, isNaive: true },
    {
      rule: "C1",
      what: "a circle that was found ends nothing",
      seed: 19,
      change: {
        file: "locks/deadlocks/deadlocks.ts",
        from: "if (error) ender.abort(error);",
        to: "if (error) return;",
      },
    },
    {
      rule: "C2",
      what: "code that holds two locks may not wait for a third",
      seed: 1,
      change: {
        file: "locks/deadlocks/deadlocks.ts",
        from: "const own = owner.held.find((held) => isCertain(held, wanted));",
        to: "const own = owner.held.find((held) => isCertain(held, wanted)) ?? owner.held[1];",
      },
    },
    {
      rule: "C3",
      what: "a wait for several that fails keeps what it has",
      seed: 2,
      change: {
        file: "locks/multi-lock.ts",
        from: "const released = releaseAll(leases);",
        to: "const released = releaseAll([]);",
      },
    },
    {
      rule: "C5",
      what: "a re-entry releases the lease",
      seed: 21,
      change: {
        file: "locks/inner-lease.ts",
        from: 'this.#outer.valid ? "released" : "lapsed"',
        to: "await this.#outer.release()",
      },
    },
    {
      rule: "C6",
      what: "the condition is not asked under the lock",
      seed: 1,
      change: {
        file: "locks/acquiring.ts",
        from: "!(await orAborted(orAborted(under(held, unless), signal), held.signal))",
        to: "true",
      },
    },
    {
      rule: "C7",
      what: "permits are not counted",
      seed: 1,
      change: {
        file: "locks/backends/redis/permits/lua/_permits.lua",
        from: "p.used + weight <= p.limit",
        to: "weight <= p.limit",
      },
    },
    {
      rule: "C8",
      what: "an attempt for a name that the store was not asked for gets nothing",
      seed: 2,
      change: {
        file: "locks/attempts.ts",
        from: "this.#wasAsked || this.joint ? null",
        to: "true ? null",
      },
    },
  ],
  begin,
};

function begin(scene: Scene): Work {
  const run: Run = { scene, ledger: new Ledger(scene), handed: [], job: 0 };
  const circles = new CircleWatch(scene, run.ledger);
  return {
    join: (caller) => new FamilyCaller(caller, run),
    look: () => circles.look(),
    left: () => judgeLeft(run),
    judge: () => judgeBetween(run),
    progress: () => run.ledger.count,
    lastMs: 4 * lastMs,
  };
}

/** CircleWatch: since when the same waits can never be served. */
class CircleWatch {
  readonly #scene: Scene;
  readonly #ledger: Ledger;
  #stuck = "";
  #sinceMs = 0;

  constructor(scene: Scene, ledger: Ledger) {
    this.#scene = scene;
    this.#ledger = ledger;
  }

  /** C1 */
  look(): void {
    const { nowMs } = this.#scene.world;
    const stuck = this.#ledger.stuck.join(" ");
    if (stuck !== this.#stuck || this.#sinceMs < this.#scene.calmFromMs) {
      this.#stuck = stuck;
      this.#sinceMs = nowMs;
    }
    if (stuck === "" || nowMs - this.#sinceMs < longestCircleMs) return;
    this.#scene.fail(
      "C1",
      `the waits ${stuck} wait for each other since ${this.#sinceMs.toFixed(0)} ms, without an error`,
    );
    this.#sinceMs = nowMs;
  }
}

/** C3: no part stays held that nobody has. */
function judgeLeft({ scene, handed }: Run): void {
  // What the dead held, and a handle that nobody adopted, last until somebody asks for the lock, who cuts them to their ttl.
  if (scene.mayBeSetBack) return;
  for (const [noun, all] of Object.entries(names) as [LockNoun, readonly string[]][]) {
    for (const name of all) {
      const isOnItsWay = handed.some(({ part, endMs }) => part.name === name && endMs > scene.world.nowMs);
      if (isOnItsWay || !isHeld(scene, noun, name)) continue;
      scene.fail("C3", `the ${noun} "${name}" is still held, and nobody wants it`);
    }
  }
}

function isHeld(scene: Scene, noun: LockNoun, name: string): boolean {
  const { node } = scene;
  if (noun === "mutex") {
    const [state, expiryMs] = node.peekAll(["GET", keysOf(name).lock], ["PTTL", keysOf(name).lock]);
    return (toHolder(state, expiryMs)?.leftMs ?? 0) > 0;
  }
  const [fields, time] = node.peekAll(["HGETALL", `holdfast:{${name}}:${noun}`], ["TIME"]);
  const nowMs = Array.isArray(time) ? Number(time[0]) * 1_000 + Math.floor(Number(time[1]) / 1_000) : 0;
  const words = Array.isArray(fields) ? fields.map(String) : [];
  return words.some(
    (field, place) =>
      place % 2 === 0 && field !== "." && Number(/^\d+/.exec(words[place + 1] ?? "")?.[0]) > nowMs,
  );
}

/** C4 */
function judgeBetween({ scene, handed }: Run): void {
  const granted = scene.history.operations.filter(
    ({ f, type, token }) => (f === "acquire" || f === "adopt") && type === "ok" && token !== undefined,
  );
  for (const { part, fence, adopted } of handed) {
    const [to] = adopted;
    if (to === undefined || part.weight < part.total) continue;
    const between = granted.find(
      ({ key, token }) => key === part.name && (token as bigint) > fence && (token as bigint) < to,
    );
    if (between && !scene.hasForgotten)
      scene.fail(
        "C4",
        `${between.process} had "${part.name}" with ${between.token}, between ${fence} and its adopter's ${to}`,
        between.invMs,
        [between],
      );
  }
}
