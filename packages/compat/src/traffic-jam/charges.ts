/** Charges: one limit or many, in one script that charges all of them or none. */
import {
  InvalidArgumentError,
  type LimitResult,
  type LimitTarget,
  type LimitGroup as NativeGroup,
} from "holdfast";
import { checkOptions } from "../options.js";
import { answerOf, type Found, Gauge, indexFor, MOST } from "./gauge.js";
import type { IncrementOptions, SingleLimit } from "./limiter.js";

/** A time of 1973, in ms. A smaller number is most likely meant in seconds, as in Ruby. */
const IN_SECONDS = 1e11;

export interface Refusal {
  readonly limit: SingleLimit;
  readonly retryAfterMs: number | null;
}

/** Limits that share a count, and are charged once for each time that they are there. */
interface Share {
  readonly limit: SingleLimit;
  readonly gauge: Gauge;
  readonly found: Found;
  times: number;
}

/** Resolves to null when `amount` was counted for every limit, and otherwise to the first that refused; then none was charged. */
export async function charge(
  limits: readonly SingleLimit[],
  amount: number,
  options: IncrementOptions,
): Promise<Refusal | null> {
  const atMs = momentOf(options);
  const asked: SingleLimit[] = [];
  for (const limit of limits) {
    const decided = Gauge.of(limit).decide(checkAmount(amount));
    if (decided === null) asked.push(limit);
    // In their order, because an earlier limit may refuse as well.
    if (decided === false)
      return (await ask(sharesOf(asked), amount, atMs, "peek")) ?? { limit, retryAfterMs: null };
  }
  return ask(sharesOf(asked), amount, atMs, "take");
}

/** Refunds every limit, or none where one cannot be refunded. */
export async function refund(
  limits: readonly SingleLimit[],
  amount: number,
  options: IncrementOptions,
): Promise<boolean> {
  for (const limit of limits) Gauge.of(limit).checkGives();
  return (await charge(limits, -checkAmount(amount), options)) === null;
}

/** The used amount of each limit, all at the same moment. */
export async function usedOf(limits: readonly SingleLimit[]): Promise<number[]> {
  const shares = sharesOf(limits.filter((limit) => !Gauge.of(limit).isIdle));
  const byNative = new Map<string, number>();
  const [first] = shares;
  if (first) {
    const { results } = await answerOf(groupOf(shares, () => ({})).peek(0));
    for (const [place, { remaining }] of results.entries()) {
      const { found } = shares[place] as Share;
      byNative.set(nameOf(found), found.native.policy.max - remaining);
    }
  }
  return limits.map((limit) => {
    const gauge = Gauge.of(limit);
    return gauge.isIdle ? 0 : (byNative.get(nameOf(gauge.find())) as number);
  });
}

export async function reset(limits: readonly SingleLimit[]): Promise<void> {
  await Promise.all(
    limits.map((limit) => {
      const { native, target } = Gauge.of(limit).find();
      return native.reset(target);
    }),
  );
}

async function ask(
  shares: readonly Share[],
  amount: number,
  atMs: number | undefined,
  how: "take" | "peek",
): Promise<Refusal | null> {
  const [first] = shares;
  if (!first) return null;
  const each = Math.min(Math.abs(amount), MOST);
  const partOf = ({ gauge, times }: Share): Part => ({
    cost: Math.min(each * times, MOST),
    atMs: gauge.momentOf(atMs),
  });
  if (how === "take" && amount > 0) await note(shares);
  if (amount < 0) {
    if (how === "take") await answerOf(groupOf(shares, partOf).refund());
    return null;
  }
  const part = partOf(first);
  const asked: Promise<Answers> =
    shares.length === 1 ? alone(first, part, how) : groupOf(shares, partOf)[how]();
  const { results } = await answerOf(asked);
  const place = results.findIndex(({ ok }) => !ok);
  const refused = results[place];
  return refused ? { limit: (shares[place] as Share).limit, retryAfterMs: refused.retryAfterMs } : null;
}

type Part = Required<Pick<LimitTarget, "cost" | "atMs">>;

interface Answers {
  readonly results: readonly LimitResult[];
}

/** Single requests of one tick travel together. */
async function alone({ found }: Share, { cost, atMs }: Part, how: "take" | "peek"): Promise<Answers> {
  const { native, target } = found;
  return {
    results: [await (how === "take" ? native.take(target, cost, { atMs }) : native.peek(target, cost))],
  };
}

function groupOf(shares: readonly Share[], partOf: (share: Share) => Partial<Part>): NativeGroup {
  const [{ found }] = shares as readonly [Share];
  return found.holdfast.limits.all(
    shares.map((share) => share.found.native.of(share.found.target, partOf(share))),
  );
}

/** Called before the limits are charged, so that nothing is charged where it fails. */
async function note(shares: readonly Share[]): Promise<void> {
  const [{ found }] = shares as readonly [Share];
  const index = await indexFor(found.holdfast);
  await index.note(shares.map(({ found: { native, target } }) => ({ limit: native, target })));
}

/** @throws {InvalidArgumentError} */
function sharesOf(limits: readonly SingleLimit[]): Share[] {
  const shares = new Map<string, Share>();
  for (const limit of limits) {
    const gauge = Gauge.of(limit);
    const found = gauge.find();
    const known = shares.get(nameOf(found));
    const [first] = shares.values();
    if (first && first.found.holdfast !== found.holdfast)
      throw new InvalidArgumentError(
        "limits",
        "must be of one client and one keyPrefix: a group is one script",
      );
    if (!known) shares.set(nameOf(found), { limit, gauge, found, times: 1 });
    else if (known.limit.max === limit.max && known.limit.period === limit.period) known.times += 1;
    else
      throw new InvalidArgumentError(
        "limits",
        `has '${limit.action}' twice with another max or period, which would be one count: name the actions apart`,
      );
  }
  return [...shares.values()];
}

function nameOf({ native, target }: Found): string {
  return JSON.stringify([native.policy.type, native.name, target]);
}

function checkAmount(amount: number): number {
  if (typeof amount === "number") return amount;
  throw new InvalidArgumentError("amount", "must be a number");
}

function momentOf(options: IncrementOptions): number | undefined {
  checkOptions("options", options, ["time"]);
  const { time } = options;
  if (time === undefined) return undefined;
  const isDate = time instanceof Date;
  const atMs = isDate ? time.getTime() : time;
  if (Number.isFinite(atMs) && atMs >= (isDate ? 0 : IN_SECONDS)) return atMs;
  throw new InvalidArgumentError("time", "must be a Date, or milliseconds since 1970, and not seconds");
}
