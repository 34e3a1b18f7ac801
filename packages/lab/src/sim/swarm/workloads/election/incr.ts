/**
 * The term counter by INCR, as it is found in documents: whoever increments the counter of a term first leads for the length of a
 * term, by its own clock, from when the answer came.
 */
import type { CampaignOptions, Leadership } from "holdfast";
import type { Caller } from "../../workload.js";

export type Campaign = (options: CampaignOptions<string>) => Promise<Leadership<string> | null>;

export function termCounter(caller: Caller): Campaign {
  const { process, hf, plan } = caller;
  // A count that admits one is what INCR answers with 1.
  const counter = hf.limit("term", { type: "lifetime", max: 1, outage: "error" });
  return async () => {
    const number = Math.floor(process.wallMs / plan.ttlMs);
    const { ok } = await counter.take(String(number));
    if (!ok) {
      await process.sleep(plan.ttlMs / 4);
      return null;
    }
    const sinceMs = process.monoMs;
    return leadershipOf(caller, BigInt(number), () => plan.ttlMs - (process.monoMs - sinceMs));
  };
}

function leadershipOf(caller: Caller, term: bigint, leftMs: () => number): Leadership<string> {
  const { signal } = new AbortController();
  let resigned = false;
  const isValid = (): boolean => !resigned && leftMs() > 0;
  const resign = async (): Promise<"released"> => {
    resigned = true;
    return "released";
  };
  return {
    election: "boss",
    term,
    fence: term,
    id: caller.name,
    value: caller.name,
    announced: false,
    signal,
    get valid() {
      return isValid();
    },
    get remainingMs() {
      return isValid() ? leftMs() : 0;
    },
    check() {},
    resign,
    transfer: async () => null,
    toJSON() {
      const { election, id, value, announced, valid, remainingMs } = this;
      return { election, term: String(term), id, value, announced, valid, remainingMs };
    },
    [Symbol.asyncDispose]: async () => void (await resign()),
  };
}
