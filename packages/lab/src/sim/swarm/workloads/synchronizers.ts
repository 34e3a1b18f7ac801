/** Events, latches and barriers under faults: callers set and clear, count down, arrive, and wait for each other. */
import type { Barrier, SharedEvent } from "holdfast";
import {
  type Counted,
  checkBarriers,
  checkEvents,
  checkLatches,
  type SynchronizerFacts,
  synchronizerRules,
} from "../../../history/synchronizers.js";
import type { Node } from "../../node.js";
import { drawLightPlan, nodeName } from "../plan.js";
import { lifeOf, planned, prefix } from "../scene.js";
import {
  type Caller,
  type Canary,
  type Rounds,
  round,
  type Scene,
  type Work,
  type Workload,
} from "../workload.js";
import { judgePlaces, onlyInOne, readAll } from "./places.js";
import { type Laps, otherKinds, size } from "./synchronizers/others.js";

const event = "door";
const barrier = "step";
/** In calm nothing is lost, so messages alone must be quick. */
const quickMs = 500;
/** After faults a connection may have to be found out to be dead. */
const settleMs = 11_000;
/** By then after a fault every connection is back, and what waited has been sent. */
const backMs = 2_000;
/** Long enough to begin amid the faults and end after them. */
const longMs = 20_000;
const waitsMs = [0, 100, 500, 2_000] as const;

const canaries: readonly Canary[] = [
  {
    rule: "Y1",
    what: "a version is the second of its set",
    seed: 1,
    change: {
      file: "redis/lua/_version.lua",
      from: "local version, last = tonumber(now), tonumber(previous or '0')",
      to: "local version, last = math.floor(tonumber(now) / 1000000) * 1000000, 0",
    },
  },
  {
    rule: "Y2",
    what: "a set tells nobody",
    seed: 4,
    change: {
      file: "synchronizers/lua/event-set.lua",
      from: "publish_event(channel, place, { version, version, '1', data })",
      to: "",
    },
  },
  {
    rule: "Y3",
    what: "a wait ends with the version after which it waits",
    seed: 1,
    change: { file: "synchronizers/event.ts", from: "state.lastSet > above", to: "state.lastSet >= above" },
  },
  {
    rule: "Y4",
    what: "a party counts as often as it says so",
    seed: 3,
    change: {
      file: "synchronizers/lua/latch-count-down.lua",
      from: "local has_counted = by ~= '' and",
      to: "local has_counted = false and",
    },
  },
  {
    rule: "Y5",
    what: "an opening tells nobody",
    seed: 34,
    change: {
      file: "synchronizers/lua/latch-count-down.lua",
      from: "if counted == 1 and left == 0 then",
      to: "if counted == 2 then",
    },
  },
  {
    rule: "Y6",
    what: "a party that gives up still counts",
    seed: 1,
    change: { file: "synchronizers/lua/barrier-withdraw.lua", from: "drop_arrival(keys, arrival)", to: "" },
  },
  {
    rule: "Y7",
    what: "a generation waits for one party more",
    seed: 34,
    change: {
      file: "synchronizers/lua/barrier-attend.lua",
      from: "if redis.call('ZCARD', keys.leases) < tonumber(size) then return end",
      to: "if redis.call('ZCARD', keys.leases) <= tonumber(size) then return end",
    },
  },
  {
    rule: "Y8",
    what: "close() does not withdraw",
    seed: 33,
    change: {
      file: "synchronizers/gathering.ts",
      from: "this.#leave(arrival, { error: error() });",
      to: "arrival.pending.reject(error());",
    },
  },
  {
    rule: "Y9",
    what: "a reset keeps the generation",
    seed: 1,
    change: {
      file: "synchronizers/latch.ts",
      from: "return { generation: parseVersion(generation) };",
      to: "return { generation: parseVersion(generation) & 0n };",
    },
  },
  {
    rule: "Y10",
    what: "the data of a generation comes in any order",
    seed: 3,
    change: {
      file: "synchronizers/barrier.ts",
      from: "data: trip.data.map(",
      to: "data: trip.data.toReversed().map(",
    },
  },
  {
    rule: "Y11",
    what: "the record of a party that has left stays",
    seed: 2,
    change: {
      file: "synchronizers/lua/_barrier.lua",
      from: "redis.call('HDEL', keys.arrivals, arrival)",
      to: "",
    },
  },
];

export const synchronizers: Workload = {
  name: "synchronizers",
  about: "callers set, clear and await an event, count latches down, and meet at a barrier",
  rules: {
    ...synchronizerRules,
    Y8: "a party whose process has closed does not count",
    Y9: "the generations of a latch rise",
    Y10: "who meets at a barrier has the data of all parties, its own at its place",
    Y11: "whoever waits at a barrier has a lease and a record, and data is of those who wait or have met",
  },
  invariants: {
    "the versions of an event and the generations of a latch rise": "Y1",
    "leases and records of a barrier name the same parties, and data is of those who wait or have met": "Y11",
    "a party has counted a latch down once in a generation": "Y4",
  },
  canaries,
  draw(seed, kinds) {
    const plan = drawLightPlan("synchronizers", seed, kinds);
    const [first, ...others] = plan.processes;
    // Parties that close amid a wait are more frequent than programs that close.
    if (!first || seed % 2 === 0) return plan;
    return { ...plan, processes: [{ ...first, closesAtMs: Math.round(plan.chaosMs / 2) }, ...others] };
  },
  begin,
};

/** What contradicts the places at the barrier: the keys of synchronizers/lua/_barrier.lua; null: nothing. */
function misplaced(node: Node): string | null {
  const main = `${prefix}:{${barrier}}:barrier`;
  const all = readAll(node, [
    ["ZRANGE", `${main}:leases`, "0", "-1"],
    ["HKEYS", `${main}:arrivals`],
    ["ZRANGE", `${main}:tripped`, "0", "-1"],
    ["HKEYS", `${main}:data`],
  ]);
  if (!all) return null;
  const [leases = [], arrivals = [], tripped = [], data = []] = all;
  const loose = onlyInOne(leases, arrivals);
  if (loose !== undefined) return `the party ${loose} has a lease or a record alone`;
  const known = new Set([...arrivals, ...tripped.flatMap((entry) => entry.split(" ").slice(2))]);
  const left = data.find((arrival) => !known.has(arrival));
  return left === undefined ? null : `the data of ${left} is nobody's`;
}

/** What the callers of a run know of each other. */
interface Shared extends Laps {
  /** The latch that is counted down at present. */
  latch: number;
  /** The newest version of the event that somebody saw. */
  version: bigint;
}

function begin(scene: Scene): Work {
  const shared: Shared = { latch: 1, version: 0n, generation: 0n };
  return {
    leastProgress: 3,
    lastMs: longMs + settleMs * 2,
    join: (caller) => new SynchronizerCaller(caller, shared),
    look: () => judgePlaces(scene, "Y11", () => misplaced(scene.node)),
    closed: (process) => judgeClosed(scene, process),
    judge: () => judge(scene),
    progress: () =>
      scene.history.operations.filter(({ process, type }) => type === "ok" && process !== "nemesis").length,
    mayStay: (key) => /\}:(event|latch|barrier)$/.test(key),
  };
}

class SynchronizerCaller implements Rounds {
  readonly #caller: Caller;
  readonly #shared: Shared;
  readonly #event: SharedEvent;
  readonly #barrier: Barrier;

  constructor(caller: Caller, shared: Shared) {
    this.#caller = caller;
    this.#shared = shared;
    this.#event = caller.hf.event(event);
    const { ttlMs } = caller.plan;
    this.#barrier = caller.hf.barrier(barrier, size, { ttl: ttlMs, keep: Number.POSITIVE_INFINITY });
    this.kinds = { ...this.kinds, ...otherKinds(caller, shared) };
  }

  readonly kinds: Rounds["kinds"] = {
    set: round(() => this.#set()),
    clear: round(() => this.#clear()),
    wait: round(
      (waitMs: number) => this.#wait(waitMs),
      1.4,
      (dice) => [dice.chance(0.25) ? longMs : dice.pick(waitsMs)],
    ),
    "count down": round(() => this.#countDown()),
    open: round(
      (waitMs: number) => this.#open(waitMs),
      1,
      (dice) => [dice.pick(waitsMs)],
    ),
    pass: round(
      (waitMs: number) => this.#pass(waitMs),
      2,
      (dice) => [dice.pick(waitsMs)],
    ),
  };

  async last(): Promise<void> {
    const caller = this.#caller;
    await caller.insist("last look", barrier, () => this.#barrier.get());
    // Whoever waits for long is let go.
    await this.#set();
  }

  async #set(): Promise<void> {
    const found = ({ version }: { readonly version: bigint }) => ({ token: version });
    const attempt = await this.#caller.attempt("set", event, () => this.#event.set(this.#caller.name), {
      found,
    });
    if (attempt.type === "ok") this.#saw(attempt.value.version);
  }

  async #clear(): Promise<void> {
    await this.#caller.attempt("clear", event, () => this.#event.clear());
  }

  #saw(version: bigint): void {
    if (version > this.#shared.version) this.#shared.version = version;
  }

  async #wait(waitMs: number): Promise<void> {
    const after = this.#caller.dice.chance(0.8) ? this.#shared.version : 0n;
    const wait = () => this.#event.wait({ after, wait: waitMs });
    const found = (set: { readonly version: bigint } | null) => (set ? { token: set.version } : {});
    await this.#waiting("wait", event, wait, waitMs, { details: { value: String(after) }, found });
  }

  async #countDown(): Promise<void> {
    const { dice, plan, hf } = this.#caller;
    const name = `start-${this.#shared.latch}`;
    const by = dice.chance(0.6) ? plan.name : null;
    const latch = hf.latch(name, size, { keep: Number.POSITIVE_INFINITY });
    await this.#caller.attempt("count down", name, () => latch.countDown(by === null ? {} : { by }), {
      details: { value: { by, counted: true, left: null } satisfies Counted },
      found: ({ counted, count }) => ({ value: { by, counted, left: count } satisfies Counted }),
    });
  }

  async #open(waitMs: number): Promise<void> {
    const number = this.#shared.latch;
    const latch = this.#caller.hf.latch(`start-${number}`, size, { keep: Number.POSITIVE_INFINITY });
    const found = (open: { readonly generation: bigint } | null) => (open ? { token: open.generation } : {});
    const isOpen = await this.#waiting("open", latch.name, () => latch.wait({ wait: waitMs }), waitMs, {
      found,
    });
    if (isOpen) this.#shared.latch = Math.max(this.#shared.latch, number + 1);
  }

  async #pass(waitMs: number): Promise<void> {
    const pass = () => this.#barrier.wait({ wait: waitMs });
    const found = (one: { readonly generation: bigint; readonly index: number } | null) =>
      one ? { token: one.generation, value: one.index } : {};
    await this.#waiting("pass", barrier, pass, waitMs, { found });
  }

  /** Whether the wait ended with what it waited for. A wait of 0 is one look, and no wait that may end too early. */
  async #waiting<Value>(
    f: string,
    key: string,
    call: () => Promise<Value | null>,
    waitMs: number,
    options: Pick<NonNullable<Parameters<Caller["attempt"]>[3]>, "details"> & {
      readonly found: (value: Value | null) => object;
    },
  ): Promise<boolean> {
    const { callTimeoutMs } = this.#caller.plan;
    // One look may take two calls; a party whose time is over withdraws.
    const withinMs = waitMs + callTimeoutMs * (waitMs === 0 ? 2 : 1);
    const attempt = await this.#caller.attempt(f, key, call, { waitMs, withinMs, ...options });
    return attempt.type === "ok" && attempt.value !== null;
  }
}

function judge(scene: Scene): void {
  const { operations } = scene.history;
  const facts = factsOf(scene);
  const found = [checkEvents, checkLatches, checkBarriers].flatMap((check) => check(operations, facts));
  for (const { property, message, atMs, operations: shown } of found)
    scene.fail(property, message, atMs, shown);
}

function factsOf(scene: Scene): SynchronizerFacts {
  const { world, plan, calmFromMs, deathsMs, keptMs } = scene;
  const awakeMs = (process: string): number => {
    const found = world.processes.get(lifeOf(process));
    return Math.max(found?.wokenMs ?? 0, 0);
  };
  // The clock of the node may be set back by a second before leases are given up.
  const lingersMs = keptMs + 1_000;
  return {
    size,
    lingersMs,
    wasLost: (fromMs, toMs) => scene.wasLost(fromMs, toMs),
    wasClockSet: (fromMs, toMs) => scene.clockSteps.some((atMs) => fromMs <= atMs && atMs <= toMs),
    dueMs(readyMs, process) {
      if (readyMs >= calmFromMs) return readyMs + quickMs;
      return Math.max(readyMs, plan.chaosMs, awakeMs(process)) + settleMs;
    },
    countsUntilMs: ({ process, retMs }) =>
      (retMs ?? deathsMs.get(lifeOf(process)) ?? Number.POSITIVE_INFINITY) + lingersMs,
  };
}

/** Y8. An arrival names its process for people: by its label. */
function judgeClosed(scene: Scene, process: string): void {
  // A fault keeps it from withdrawing, and its effects last.
  const { nowMs } = scene.world;
  const met = scene.plan.faults.filter(({ target }) => target === nodeName || target === planned(process));
  if (met.some(({ atMs, forMs }) => atMs <= nowMs && nowMs <= atMs + forMs + backMs)) return;
  const key = `holdfast:{${barrier}}:barrier`;
  const waiting = scene.node.peek("ZRANGE", `${key}:leases`, "0", "-1");
  for (const arrival of Array.isArray(waiting) ? waiting.map(String) : []) {
    const entry = String(scene.node.peek("HGET", `${key}:arrivals`, arrival));
    if (entry.includes(`"label":"${process}"`))
      scene.fail("Y8", `close() is over, and ${process} still waits at "${barrier}"`);
  }
}
