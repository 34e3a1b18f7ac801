/**
 * Kinds: how the gem's limits differ, as data. A kind names the type of native limit that counts for it, and decides
 * what needs no count: each rule in the gem's order.
 */
import { InvalidArgumentError, type LimitType } from "holdfast";

export interface Kind {
  readonly type: LimitType;
  /** Whether the option `time` has an effect. */
  readonly heedsTime: boolean;
  readonly gives: boolean;
  /** Whether `amount` fits; null where only Redis knows. @throws {InvalidArgumentError} */
  decide(amount: number, max: number, period: number): boolean | null;
}

function checkWhole(amount: number): void {
  if (!Number.isInteger(amount))
    throw new InvalidArgumentError("amount", `must be a whole number, not ${amount}`);
}

/** Without a period, each call has the limit to itself. */
function decideByCall(amount: number, max: number, period: number): boolean | null {
  return period === 0 ? amount <= max : null;
}

export const bucket: Kind = {
  type: "rolling",
  heedsTime: true,
  gives: true,
  decide(amount, max, period) {
    if (max === 0) return amount <= 0;
    checkWhole(amount);
    return decideByCall(amount, max, period);
  },
};

export const gcra: Kind = {
  type: "gcra",
  heedsTime: false,
  gives: false,
  decide(amount, max, period) {
    if (amount === 0) return true;
    if (max === 0) return false;
    if (amount < 0)
      throw new InvalidArgumentError("amount", "must not be negative: a GcraLimit cannot give back");
    checkWhole(amount);
    return amount > max ? false : decideByCall(amount, max, period);
  },
};

export const rolling: Kind = {
  type: "sliding",
  heedsTime: false,
  gives: true,
  decide(amount, max, period) {
    checkWhole(amount);
    if (max === 0) return amount <= 0;
    if (period === 0 || amount === 0) return amount <= max;
    return amount > max ? false : null;
  },
};

export const lifetime: Kind = {
  type: "lifetime",
  heedsTime: false,
  gives: true,
  decide(amount, max) {
    checkWhole(amount);
    return max === 0 ? amount <= 0 : null;
  },
};
