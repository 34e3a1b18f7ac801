/**
 * What limits say, as their pages describe it, in whole numbers of any size: the script is compared with this, answer
 * by answer. A count of things used is a rational: so many `perUs`-ths.
 */
import type { LimitSettings } from "../../src/limits/settings.ts";
import type { LimitType } from "../../src/limits/types.ts";

export interface Question {
  readonly how: "each" | "look" | "set" | "ahead";
  readonly settings: LimitSettings;
  readonly cost: number;
  readonly atUs: number | null;
  readonly extra: number;
  readonly holdUs: number;
}

/** As the script answers. */
export type Expected = readonly [taken: number, remaining: number, retry: number, reset: number];

const up = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** One key. */
export interface Model {
  /** The key is gone from the server. What it held and should not have lost; "": nothing. */
  gone(nowUs: number): string;
  ask(nowUs: number, question: Question): Expected;
}

export function modelOf(type: LimitType): Model {
  const models: Readonly<Record<LimitType, new () => Model>> = {
    rolling: BucketModel,
    gcra: BucketModel,
    window: WindowModel,
    sliding: SlidingModel,
    lifetime: LifetimeModel,
  };
  return new models[type]();
}

/** `used` things by `perUs`, at `since`; it counts time in whole units. */
interface Fill {
  readonly used: bigint;
  readonly periods: bigint;
  readonly since: bigint;
}

class BucketModel implements Model {
  #fill: Fill | null = null;
  #max = 1n;
  #unit = 1n;

  gone(nowUs: number): string {
    if (!this.#fill) return "";
    const left = this.#fill.used - ((BigInt(nowUs) - this.#fill.since) / this.#unit) * this.#max;
    this.#fill = null;
    return left > 0n ? `${left} units` : "";
  }

  ask(nowUs: number, { how, settings, cost, atUs, extra, holdUs }: Question): Expected {
    const [now, max, burst] = [BigInt(nowUs), BigInt(settings.policy.max), BigInt(settings.burst)];
    const [per, unit] = [BigInt(settings.perUs), BigInt(settings.unitUs)];
    const [periods, isMoved] = [per / unit, this.#fill !== null && this.#fill.since > now + per];
    const full = burst * periods;
    const event = atUs === null ? now : least(BigInt(atUs), now);
    let [used, since] = [0n, event];
    if (this.#fill) {
      used = least(up(this.#fill.used * periods, this.#fill.periods), full);
      since = isMoved ? now : this.#fill.since;
    }
    let wanted = most(BigInt(cost), -burst) * periods;
    if (event < since) {
      const gone = atUs === null ? 0n : ((since - event) / unit) * max;
      wanted = wanted > 0n ? most(wanted - gone, 0n) : least(wanted + gone, 0n);
    }
    const ticks = most(event - since, 0n) / unit;
    if (used <= ticks * max) [used, since] = [0n, most(event, since)];
    else [used, since] = [used - ticks * max, since + ticks * unit];
    if (how === "set") [used, since, wanted] = [least(BigInt(cost), burst) * periods, now, 0n];

    const free = (left: bigint): number =>
      Number((full - most(left - (most(now - since, 0n) / unit) * max, 0n)) / periods);
    const inUs = (left: bigint): number => Number(most(up(left, max) * unit + since - now, 1n));
    const isFitting = how === "set" || cost <= 0 || (BigInt(cost) <= burst && used + wanted <= full);
    let [taken, after] = [isFitting ? 1n : 0n, most(used + wanted, 0n)];
    if (isFitting && how === "ahead") {
      const raised = most(used, up(BigInt(holdUs), unit) * max);
      const more = (full - raised - wanted) / periods;
      if (full - raised - wanted > 0n && more > 0n && extra > 0) {
        const got = least(more, BigInt(extra));
        [taken, after] = [1n + got, raised + wanted + got * periods];
      }
    }
    const isCharged = isFitting && how !== "look";
    if (isCharged || (isMoved && how !== "look")) {
      const left = isCharged ? after : used;
      this.#fill = left > 0n ? { used: left, periods, since } : null;
      [this.#max, this.#unit] = [max, unit];
    }
    const retry = isFitting ? 0 : BigInt(cost) > burst ? -1 : inUs(used + wanted - full);
    const left = isCharged ? after : used;
    return [Number(taken), free(left), retry, left === 0n ? 0 : inUs(left)];
  }
}

class WindowModel implements Model {
  #count = 0;
  #startUs = 0;
  #perUs = 0;

  gone(nowUs: number): string {
    const count = nowUs < this.#startUs + this.#perUs ? this.#count : 0;
    this.#count = 0;
    return count > 0 ? `${count}` : "";
  }

  ask(nowUs: number, { how, settings, cost, atUs, extra }: Question): Expected {
    const { max } = settings.policy;
    const per = settings.perUs;
    let [count, start] = this.#count > 0 ? [this.#count, this.#startUs] : [0, nowUs];
    const isMoved = start > nowUs + per;
    if (isMoved) start = nowUs;
    if (nowUs >= start + per) [count, start] = [0, nowUs];
    const isOver = cost < 0 && atUs !== null && atUs < start;
    let after = Math.max(0, count + (isOver ? 0 : cost));
    if (how === "set") after = Math.min(cost, max);
    const isFitting = how === "set" || cost <= 0 || after <= max;
    const more = isFitting && how === "ahead" ? Math.max(0, Math.min(extra, max - after)) : 0;
    const isCharged = isFitting && how !== "look";
    if (isCharged || (isMoved && how !== "look"))
      [this.#count, this.#startUs, this.#perUs] = [isCharged ? after + more : count, start, per];
    const used = isCharged ? after + more : count;
    const left = Math.max(1, start + per - nowUs);
    const retry = isFitting ? 0 : cost > max ? -1 : left;
    return [isFitting ? 1 + more : 0, Math.max(0, max - used), retry, used > 0 ? left : 0];
  }
}

class LifetimeModel implements Model {
  #count = 0;

  gone(): string {
    return this.#count > 0 ? `${this.#count}` : "";
  }

  ask(_nowUs: number, { how, settings, cost, extra }: Question): Expected {
    const { max } = settings.policy;
    const after = how === "set" ? Math.min(cost, max) : Math.max(0, this.#count + cost);
    const isFitting = how === "set" || cost <= 0 || after <= max;
    const more = isFitting && how === "ahead" ? Math.max(0, Math.min(extra, max - after)) : 0;
    const isCharged = isFitting && how !== "look";
    if (isCharged) this.#count = after + more;
    const used = this.#count;
    return [isFitting ? 1 + more : 0, Math.max(0, max - used), isFitting ? 0 : -1, used > 0 ? -1 : 0];
  }
}

interface Entry {
  readonly at: number;
  n: number;
}

/** One entry for each thing, none of them merged. */
class SlidingModel implements Model {
  #entries: Entry[] = [];
  #perUs = 0;

  gone(nowUs: number): string {
    const left = this.#entries.filter(({ at }) => at > nowUs - this.#perUs);
    this.#entries = [];
    return left.map(({ at, n }) => `${n} of ${at}`).join();
  }

  ask(nowUs: number, { how, settings, cost, atUs, extra }: Question): Expected {
    const { max } = settings.policy;
    const per = settings.perUs;
    let entries = this.#entries.filter(({ at }) => at > nowUs - per).map((entry) => ({ ...entry }));
    const sum = (of: readonly Entry[]): number => of.reduce((total, { n }) => total + n, 0);
    const isMoved = (this.#entries.at(-1)?.at ?? 0) > nowUs + per;
    if (isMoved) entries = [{ at: nowUs, n: sum(entries) }];
    const used = sum(entries);
    const asked = how === "set" ? Math.min(cost, max) - used : cost;
    const isFitting = asked <= 0 || used + asked <= max;
    const more = isFitting && how === "ahead" ? Math.max(0, Math.min(extra, max - used - asked)) : 0;
    const wanted = asked + more;
    const resetOf = (left: number, lastAt: number): number =>
      left === 0 ? 0 : Math.max(1, lastAt + per - nowUs);
    const lastAt = entries.at(-1)?.at ?? 0;
    let [after, reset] = [used, resetOf(used, lastAt)];
    if (isFitting && how !== "look") {
      const at = Math.max(lastAt, nowUs);
      if (wanted > 0) entries.push({ at, n: wanted });
      else giveBack(entries, -wanted, how === "set" || isMoved ? null : atUs);
      after = sum(entries);
      reset = resetOf(after, wanted > 0 ? at : lastAt);
      this.#entries = entries.filter(({ n }) => n > 0);
      this.#perUs = per;
    } else if (isMoved && how !== "look") {
      this.#entries = entries;
      this.#perUs = per;
    }
    return [isFitting ? 1 + more : 0, Math.max(0, max - after), retryOf(), reset];

    function retryOf(): number {
      if (isFitting) return 0;
      if (cost > max) return -1;
      let free = 0;
      for (const { at, n } of entries) {
        free += n;
        if (used - free + cost <= max) return Math.max(1, at + per - nowUs);
      }
      return per;
    }
  }
}

/** Of what was taken up to `at` the newest first, else the oldest. */
function giveBack(entries: Entry[], cost: number, at: number | null): void {
  const order = at === null ? entries : entries.filter((entry) => entry.at <= at).reverse();
  let left = cost;
  for (const entry of order) {
    const back = Math.min(left, entry.n);
    entry.n -= back;
    left -= back;
  }
}
