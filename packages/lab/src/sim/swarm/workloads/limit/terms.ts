/** What a run of the limits draws for itself: limits of two names, and what each admits at most. */
import type { LimitOptions, LimitType } from "holdfast";
import type { Dice } from "../../../../chance/dice.js";
import type { AdmissionOptions } from "../../../../history/admissions.js";
import type { Scene } from "../../workload.js";

export interface Terms {
  readonly name: string;
  readonly options: LimitOptions;
  readonly bound: AdmissionOptions;
}

const periodMs = 1_000;
/** That a limit gives its own calls. */
export const longestTimeoutMs = 400;

export function drawTerms(scene: Scene): readonly Terms[] {
  const max = scene.world.dice("limit").pick([2, 5]);
  const sms: Terms = {
    name: "sms",
    options: { type: "sliding", max, per: periodMs, outage: "error" },
    bound: { most: max, perMs: periodMs },
  };
  const dice = scene.world.dice("kinds of limits");
  return [dice.chance(0.4) ? sms : anyOf("sms", dice), anyOf("day", dice)];
}

function anyOf(name: string, dice: Dice): Terms {
  const type = dice.pick<LimitType>(["rolling", "gcra", "window", "sliding", "lifetime"]);
  const max = dice.pick([0, 2, 5, 12]);
  const perMs = dice.pick([200, 1_000, 3_000]);
  const burst = max === 0 ? 0 : dice.pick([1, max, 2 * max]);
  const common = {
    max,
    outage: dice.pick(["error", "error", "open", "closed", "local"] as const),
    ...(dice.chance(0.3) && { timeout: dice.pick([20, longestTimeoutMs]) }),
    ...(dice.chance(0.3) && { cache: dice.chance(0.5) }),
  };
  const shared = common.outage === "local" && dice.chance(0.5) ? { localShare: 0.5 } : {};
  const block = dice.chance(0.2) ? { block: dice.pick([1, 2, 4]) } : {};
  const all = { ...common, ...shared };
  switch (type) {
    case "rolling":
      return { name, options: { ...all, ...block, type, per: perMs }, bound: { most: 2 * max, perMs } };
    case "gcra":
      return {
        name,
        options: { ...all, ...block, type, per: perMs, burst },
        bound: { most: burst + max, perMs },
      };
    case "window":
      return { name, options: { ...all, ...block, type, per: perMs }, bound: { most: 2 * max, perMs } };
    case "sliding":
      return { name, options: { ...all, type, per: perMs }, bound: { most: max, perMs } };
    case "lifetime":
      return {
        name,
        options: { ...all, ...block, type },
        bound: { most: max, perMs: Number.POSITIVE_INFINITY },
      };
  }
}
