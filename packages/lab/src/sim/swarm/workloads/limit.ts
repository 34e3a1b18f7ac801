/** The rate limits: the smallest workload, and the example of how to write one. */
import { checkAdmissions } from "../../../history/admissions.js";
import type { Scene, Work, Workload } from "../workload.js";
import { Charger } from "./limit/charger.js";
import { drawTerms } from "./limit/terms.js";

export const limit: Workload = {
  name: "limit",
  about: "callers take from limits of every type, alone and in groups, give back, reserve, set and reset",
  rules: { A1: "no period of the limit admits more than its maximum" },
  invariants: {
    "what a limit remembers of a period is no more than it admits": "A1",
  },
  canaries: [
    {
      rule: "A1",
      what: "the log forgets after half a period",
      seed: 10,
      change: { file: "limits/lua/_sliding.lua", from: "at > now - per then", to: "at > now - per / 2 then" },
    },
  ],
  begin,
};

function begin(scene: Scene): Work {
  const shared = { terms: drawTerms(scene), admitted: 0 };
  const byName = new Map(shared.terms.map((terms) => [terms.name, terms]));
  return {
    join: (caller) => new Charger(caller, shared),
    judge() {
      // A limit that lost its count, or whose clock was set, begins again.
      if (scene.hasForgotten || scene.clockSteps.length > 0) return;
      const found = checkAdmissions(scene.history.operations, (key) => byName.get(key)?.bound ?? null);
      for (const { property, message, atMs, operations } of found)
        scene.fail(property, message, atMs, operations);
    },
    progress: () => shared.admitted,
    // A limit may admit nothing, and in some worlds no call is answered in its time.
    leastProgress: shared.terms.some(({ options }) => options.max > 0) && !scene.plan.worlds?.length ? 1 : 0,
    // What never begins again has no end.
    mayStay: (key) => key.includes(":limit:lifetime:"),
  };
}
