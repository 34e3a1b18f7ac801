/** The sliding rate limit: the smallest workload, and the example of how to write one. */
import { checkAdmissions } from "../../../history/admissions.js";
import { round, type Scene, type Work, type Workload } from "../workload.js";

const target = "user:7";

export const limit: Workload = {
  name: "limit",
  about: "callers take from one sliding limit",
  rules: { A1: "no period of the limit admits more than its maximum" },
  canaries: [
    {
      rule: "A1",
      what: "the log forgets after half a period",
      seed: 3,
      change: { file: "limits/lua/_sliding.lua", from: "at > now - per then", to: "at > now - per / 2 then" },
    },
  ],
  begin,
};

function begin(scene: Scene): Work {
  const max = scene.world.dice("limit").pick([2, 5]);
  const perMs = 1_000;
  let admitted = 0;
  return {
    join(caller) {
      const limit = caller.hf.limit("sms", { type: "sliding", max, per: perMs, outage: "error" });
      const take = async (): Promise<boolean> => (await limit.take(target)).ok;
      return {
        kinds: {
          take: round(async () => {
            // A refusal took nothing: the rule counts the cost of the others.
            const found = (isAdmitted: boolean) => ({ value: isAdmitted ? 1 : 0 });
            const attempt = await caller.attempt("take", target, take, { found });
            if (attempt.type === "ok" && attempt.value) admitted += 1;
          }),
        },
        async last() {
          await caller.insist("last take", target, take);
        },
      };
    },
    judge() {
      // A limit that lost its log, or whose clock was set, begins again.
      if (scene.hasForgotten || scene.clockSteps.length > 0) return;
      const found = checkAdmissions(scene.history.operations, () => ({ most: max, perMs }));
      for (const { property, message, atMs, operations } of found)
        scene.fail(property, message, atMs, operations);
    },
    progress: () => admitted,
  };
}
