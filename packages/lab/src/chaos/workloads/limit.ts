/** The sliding rate limit: the smallest workload of the chaos, and the example of how to write one. */
import { checkAdmissions } from "../../history/admissions.js";
import type { Caller, Workload } from "./workload.js";

const max = 5;
const perMs = 1_000;

export const limit: Workload = {
  name: "limit",
  canary: "INCR, and EXPIRE where it counts the first",
  join(caller) {
    const take = caller.isNaive ? naive(caller) : sliding(caller);
    const key = caller.isNaive ? "canary:limit" : "sms";
    return {
      async round() {
        await caller.attempt("take", key, take, { found: (isAdmitted) => ({ value: isAdmitted ? 1 : 0 }) });
      },
      async last() {
        await caller.insist("last take", key, take);
      },
    };
  },
  judge(found) {
    // A limit that lost its log, or whose clock was set, begins again.
    return found.stretches().flatMap((kept) => checkAdmissions(kept, () => ({ most: max, perMs })));
  },
};

function sliding({ hf }: Caller): () => Promise<boolean> {
  const limit = hf.limit("sms", { type: "sliding", max, per: perMs, outage: "error" });
  return async () => (await limit.take("user:7")).ok;
}

/** A window that begins with its first charge: two of them admit twice as much at their border. */
function naive({ redis }: Caller): () => Promise<boolean> {
  return async () => {
    const count = await redis.incr("canary:limit:count");
    if (count === 1) await redis.pexpire("canary:limit:count", perMs);
    return count <= max;
  };
}
