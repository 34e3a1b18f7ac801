/** What is broken on purpose in a lock that lingers, and the rule that finds it. The mutation run has the rest of the mutex. */
import type { Canary } from "../../workload.js";

const file = "locks/possession.ts";

export const lingerCanaries: readonly Canary[] = [
  {
    rule: "F2",
    what: "a grant has no last turn",
    seed: 2,
    change: { file, from: "hold.turnsLeft === 0 || ", to: "" },
  },
  {
    rule: "F2",
    what: "a hold lingers for as long as it likes",
    seed: 21,
    change: { file, from: "Math.min(lingerMs, this.#passableMs(now))", to: "this.#passableMs(now)" },
  },
  {
    rule: "W1",
    what: "a hold that lingers goes back late",
    seed: 21,
    change: { file, from: "Math.min(lingerMs, this.#passableMs(now))", to: "lingerMs * 5 + 500" },
  },
];
