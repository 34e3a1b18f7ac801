/** A guard: callers hit it for a few subjects, look, and pardon. */
import type { GuardOptions, GuardVerdict } from "holdfast";
import { checkAdmissions } from "../../../history/admissions.js";
import { checkBars, guardRules, type Hit } from "../../../history/guard-rules.js";
import { type Caller, type Rounds, round, type Scene, type Work, type Workload } from "../workload.js";

const name = "login";
const subjects = ["ann", "bob"] as const;
const perMs = 500;

export const guard: Workload = {
  name: "guard",
  about: "callers hit a guard for a few subjects, look, and pardon",
  rules: guardRules,
  invariants: {
    "the count of a subject is no larger than the hits of its period": "A1",
    "a penalty is remembered until it is over": "U1",
  },
  canaries: [
    {
      rule: "A1",
      what: "hits are not counted",
      seed: 1,
      change: { file: "guards/guard.lua", from: "counted = counted + 1", to: "counted = counted" },
    },
    {
      rule: "U1",
      what: "a penalty bars nobody",
      seed: 1,
      change: {
        file: "guards/guard.lua",
        from: "if now < ends then\n    return",
        to: "if now < 0 then\n    return",
      },
    },
  ],
  begin,
};

interface Shared {
  readonly options: GuardOptions;
  hits: number;
}

function begin(scene: Scene): Work {
  const shared: Shared = { options: drawOptions(scene), hits: 0 };
  const most = 2 * shared.options.hits;
  return {
    join: (caller) => new Guarded(caller, shared),
    judge() {
      // A guard that lost its counts, or whose clock was set, begins again.
      if (scene.hasForgotten || scene.clockSteps.length > 0) return;
      const { operations } = scene.history;
      const takes = operations.map((one) =>
        one.f === "hit" && one.value !== undefined
          ? { ...one, f: "take", value: (one.value as Hit).ok ? 1 : 0 }
          : one,
      );
      for (const { property, message, atMs, operations: shown } of [
        ...checkAdmissions(takes, () => ({ most, perMs })),
        ...checkBars(operations),
      ])
        scene.fail(property, message, atMs, shown);
    },
    progress: () => shared.hits,
    // In some worlds no hit is answered in its time.
    leastProgress: scene.plan.worlds?.length ? 0 : 1,
  };
}

/** Penalties are no shorter than the period, so that each window has the hits of two counts at most. */
function drawOptions({ world }: Scene): GuardOptions {
  const dice = world.dice("guard");
  const kinds = ["postpone", "busy", "refuse"] as const;
  const penalty = (lasts: number) => ({ kind: dice.pick(kinds), for: lasts, prolong: dice.chance(0.3) });
  const outage = dice.pick(["error", "error", "open", "closed", "local"] as const);
  return {
    hits: dice.pick([1, 3, 5]),
    per: perMs,
    penalties: dice.chance(0.5) ? [penalty(perMs)] : [penalty(perMs), penalty(3 * perMs)],
    outage,
    ...(outage === "local" && { localShare: 0.5 }),
    ...(dice.chance(0.3) && { decay: dice.pick([0, 2_000]) }),
    ...(dice.chance(0.3) && { timeout: dice.pick([20, 400]) }),
    ...(dice.chance(0.3) && { cache: dice.chance(0.5) }),
    ...(dice.chance(0.3) && { allow: ["admin"], deny: async () => ["eve"], listMaxAge: 300 }),
  };
}

class Guarded implements Rounds {
  readonly #caller: Caller;
  readonly #shared: Shared;
  readonly kinds: Rounds["kinds"];

  constructor(caller: Caller, shared: Shared) {
    this.#caller = caller;
    this.#shared = shared;
    this.kinds = {
      hit: round(
        (subject: string, listedAs: string | null) => this.#hit(subject, listedAs),
        8,
        (dice) => [dice.pick(subjects), dice.chance(0.1) ? dice.pick(["admin", "eve"]) : null],
      ),
      look: round(
        (subject: string) =>
          this.#caller.attempt("look", subject, () => this.#guard.look(subject), this.#timing),
        1,
        (dice) => [dice.pick(subjects)],
      ),
      pardon: round(
        (subject: string) => this.#pardon(subject),
        0.5,
        (dice) => [dice.pick(subjects)],
      ),
    };
  }

  async last(): Promise<void> {
    const look = () => this.#guard.look(subjects[0]);
    await this.#caller.insist("last look", subjects[0], look);
  }

  get #guard() {
    return this.#caller.hf.guard(name, this.#shared.options);
  }

  /** The longest time-out that a guard has, and that of a list. */
  get #timing(): { readonly withinMs: number } {
    return { withinMs: 4 * Math.max(this.#caller.plan.callTimeoutMs, 400) };
  }

  async #hit(subject: string, listedAs: string | null): Promise<void> {
    const options = listedAs === null ? undefined : { listedAs };
    const isMeant = ({ source }: GuardVerdict): boolean => source === "redis" || source === "cache";
    const found = (verdict: GuardVerdict) => {
      const { ok, penalty, retryAfterMs, source } = verdict;
      if (!isMeant(verdict)) return {};
      const barredMs = penalty && source === "redis" ? (retryAfterMs ?? 0) : 0;
      return { value: { ok, barredMs } satisfies Hit };
    };
    const done = await this.#caller.attempt("hit", subject, () => this.#guard.hit(subject, "", options), {
      ...this.#timing,
      found,
    });
    if (done.type === "ok") this.#shared.hits += 1;
  }

  async #pardon(subject: string): Promise<void> {
    const details = { value: 2 * this.#shared.options.hits };
    await this.#caller.attempt("refund", subject, () => this.#guard.pardon(subject), {
      ...this.#timing,
      details,
    });
  }
}
