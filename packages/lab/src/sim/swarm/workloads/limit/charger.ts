/** One program of a run: it charges limits, and gives back. */
import type { GroupResult, Limit, LimitGroup, LimitIndex, LimitResult, Reservation } from "holdfast";
import { type Caller, type Rounds, round } from "../../workload.js";
import { longestTimeoutMs, type Terms } from "./terms.js";

const target = "user:7";
/** How many calls a call for several limits may make, one after the other. */
const callsOfOne = 6;

/** Whether its charges may say when they happened. */
function knowsTime({ policy }: Limit): boolean {
  return policy.type === "rolling" || policy.type === "gcra";
}

export interface Shared {
  readonly terms: readonly Terms[];
  admitted: number;
}

export class Charger implements Rounds {
  readonly #caller: Caller;
  readonly #shared: Shared;
  readonly #limits: readonly Limit[];
  #index: LimitIndex | null = null;
  readonly kinds: Rounds["kinds"];

  constructor(caller: Caller, shared: Shared) {
    this.#caller = caller;
    this.#shared = shared;
    this.#limits = shared.terms.map(({ name, options }) => caller.hf.limit(name, options));
    this.kinds = this.#kinds();
  }

  async last(): Promise<void> {
    const [limit] = this.#limits as [Limit];
    await this.#caller.insist("last take", limit.name, async () => (await limit.take(target)).ok);
  }

  #kinds(): Rounds["kinds"] {
    const groups = this.#caller.dice.chance(0.3) ? 4 : 1;
    return {
      take: round(
        (place: number, cost: number, lateMs: number) => this.#take(this.#limitAt(place), cost, lateMs),
        5,
        (chance) => [chance.whole(0, 1), chance.pick([0, 1, 1, 2, 4]), chance.pick([0, 0, 0, 100])],
      ),
      cell: round(
        (place: number) => this.#cell(this.#limitAt(place)),
        1,
        (chance) => [chance.whole(0, 1)],
      ),
      peek: round(
        (place: number) => this.#peek(this.#limitAt(place)),
        1,
        (chance) => [chance.whole(0, 1)],
      ),
      refund: round(
        (place: number, cost: number) => this.#refund(this.#limitAt(place), cost),
        1,
        (chance) => [chance.whole(0, 1), chance.pick([1, 2])],
      ),
      reserve: round(
        (place: number, cost: number, actual: number) => this.#reserve(this.#limitAt(place), cost, actual),
        1,
        (chance) => [chance.whole(0, 1), chance.pick([1, 3]), chance.pick([0, 1, 4])],
      ),
      set: round(
        (place: number, used: number) => this.#set(this.#limitAt(place), used),
        0.3,
        (chance) => [chance.whole(0, 1), chance.pick([0, 1, 3])],
      ),
      reset: round(
        (place: number) => this.#reset(this.#limitAt(place)),
        0.3,
        (chance) => [chance.whole(0, 1)],
      ),
      "reset all": round(() => this.#resetAll(), 0.2),
      group: round(
        (isAcross: boolean, cost: number) => this.#group(isAcross, cost),
        groups,
        (chance) => [chance.chance(0.4), chance.pick([1, 1, 2])],
      ),
    };
  }

  #limitAt(place: number): Limit {
    return this.#limits[place % this.#limits.length] as Limit;
  }

  /** What was taken for certain: an answer without the server binds nobody. */
  #found({ ok, source }: LimitResult, cost: number): { value: number } {
    const value = ok && source !== "outage" ? cost : 0;
    this.#shared.admitted += ok ? 1 : 0;
    return { value };
  }

  /** Of one call, which a limit may give a longer time-out of its own. */
  get #once(): { withinMs: number } {
    const { plan } = this.#caller;
    return { withinMs: 2 * Math.max(plan.callTimeoutMs, longestTimeoutMs) };
  }

  get #timing(): { withinMs: number } {
    return { withinMs: callsOfOne * this.#caller.plan.callTimeoutMs };
  }

  async #take(limit: Limit, cost: number, askedMs = 0): Promise<void> {
    const lateMs = knowsTime(limit) ? askedMs : 0;
    const atMs = Math.round(this.#caller.scene.world.trueUs / 1_000) - lateMs;
    // A late charge counts for less.
    const found = (result: LimitResult) => this.#found(result, lateMs > 0 ? 0 : cost);
    const take = (): Promise<LimitResult> =>
      lateMs > 0 ? limit.take(target, cost, { atMs }) : limit.take(target, cost);
    await this.#caller.attempt("take", limit.name, take, { found, ...this.#once });
  }

  async #cell(limit: Limit): Promise<void> {
    // It does not say who decided.
    await this.#caller.attempt("cell", limit.name, () => limit.cell(target), this.#once);
  }

  async #peek(limit: Limit): Promise<void> {
    await this.#caller.attempt("peek", limit.name, () => limit.peek(target), this.#once);
  }

  async #refund(limit: Limit, cost: number): Promise<void> {
    const details = { value: cost };
    const { dice, scene } = this.#caller;
    const atMs = Math.round(scene.world.trueUs / 1_000) - dice.whole(0, 500);
    const options = dice.chance(0.3) ? { atMs } : undefined;
    await this.#caller.attempt("refund", limit.name, () => limit.refund(target, cost, options), {
      details,
      ...this.#timing,
    });
  }

  async #reserve(limit: Limit, cost: number, actual: number): Promise<void> {
    const found = (result: LimitResult) => this.#found(result, cost);
    const done = await this.#caller.attempt<Reservation>(
      "take",
      limit.name,
      () => limit.reserve(target, cost),
      { found, ...this.#once },
    );
    if (done.type !== "ok") return;
    await this.#caller.process.sleep(this.#caller.dice.between(0, 200));
    const details = { value: Math.max(0, cost - actual) };
    await this.#caller.attempt("refund", limit.name, () => done.value.settle(actual), {
      details,
      ...this.#timing,
    });
  }

  async #set(limit: Limit, used: number): Promise<void> {
    await this.#anew("set", limit, () => limit.set(target, used));
  }

  async #reset(limit: Limit): Promise<void> {
    await this.#anew("reset", limit, () => limit.reset(target));
  }

  async #resetAll(): Promise<void> {
    const { hf } = this.#caller;
    this.#index ??= await hf.limits.index("all of them");
    const index = this.#index;
    const parts = this.#limits.map((limit) => limit.of(target));
    const noted = await this.#caller.attempt("note", "index", () => index.note(parts), this.#timing);
    if (noted.type !== "ok") return;
    const [limit] = this.#limits as [Limit];
    const isOfAll = this.#caller.dice.chance(0.3);
    const group = this.#caller.hf.limits.all(parts);
    if (isOfAll) for (const each of this.#limits) await this.#anew("reset", each, () => group.reset());
    else await this.#anew("reset", limit, () => index.reset(limit.name));
  }

  /** As much as it may have held may be taken once more. */
  async #anew(how: string, limit: Limit, call: () => Promise<unknown>): Promise<void> {
    const { bound } = this.#shared.terms[this.#limits.indexOf(limit)] as Terms;
    const refund = this.#caller.recorder.begin("refund", limit.name, { value: bound.most });
    const done = await this.#caller.attempt(how, limit.name, call, this.#timing);
    if (done.type === "ok") refund.ok();
    else if (done.type === "fail") refund.fail("refused");
    else refund.info("unknown");
  }

  async #group(isAcross: boolean, cost: number): Promise<void> {
    const { hf, dice, scene } = this.#caller;
    const { limits } = hf;
    const [one, other] = this.#limits as [Limit, Limit];
    const isEndless = this.#limits.some(({ policy }) => policy.perMs === null);
    // A late charge counts for less.
    const isLate = knowsTime(other) && dice.chance(0.2);
    const late = { atMs: Math.round(scene.world.trueUs / 1_000) - 100 };
    const own = dice.chance(0.5) ? { cost: 1 } : {};
    const parts = [one.of(target), other.of(target, { ...own, ...(isLate && late) })];
    if (!limits.has(one)) scene.fail("error", `${one.name} is not known to the limits that made it`);
    const group = isAcross && !isEndless ? limits.across(parts) : limits.all(parts);
    if (dice.chance(0.2)) await this.#caller.attempt("peek", "group", () => group.peek(cost), this.#timing);
    const costs = group.parts.map((part) => part.cost ?? cost);
    const pending = this.#limits.map(({ name }, place) =>
      this.#caller.recorder.begin("take", name, { value: isLate && place === 1 ? 0 : costs[place] }),
    );
    const done = await this.#caller.attempt<GroupResult>(
      "group",
      "group",
      () => group.take(cost),
      this.#timing,
    );
    for (const [place, each] of pending.entries()) {
      const result = done.type === "ok" ? done.value.results[place] : undefined;
      // Of another Holdfast, and with a part that was decided without the server.
      if (done.type === "ok" && done.value.ok && result?.source !== "outage") each.ok();
      else each.info("nothing, or unknown");
    }
    if (done.type === "ok" && done.value.ok && dice.chance(0.3))
      await this.#giveBack(group, done.value, costs);
  }

  async #giveBack(group: LimitGroup, took: GroupResult, costs: readonly number[]): Promise<void> {
    const { dice } = this.#caller;
    const isAll = dice.chance(0.3);
    const back = costs.map((cost) => (isAll ? cost : dice.whole(0, cost)));
    const refunds = this.#limits.map(({ name }, place) =>
      this.#caller.recorder.begin("refund", name, { value: back[place] }),
    );
    const give = async (): Promise<void> => {
      if (isAll) await group.refund();
      else await group.giveBack(took, back);
    };
    const done = await this.#caller.attempt("give back", "group", give, this.#timing);
    for (const each of refunds) (done.type === "ok" ? each.ok : (): unknown => each.info("unknown"))();
  }
}
