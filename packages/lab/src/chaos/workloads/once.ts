/** Work that is carried out once: the workers ask for the same slots of time at about the same time, as a schedule does. */
import { checkAnswers, checkFences } from "../../history/once-rules.js";
import type { Caller, Workload } from "./workload.js";

const slotMs = 1_000;
const ttlMs = 1_000;
const waitMs = 4_000;
const workMs = { low: 0, high: 300 };
/** The requests of one call, the end of a dead run's lease, and the tries to store a result. */
const withinMs = waitMs + 8_000;

export const once: Workload = {
  name: "once",
  canary: "GET, work, SET",
  join(caller) {
    const stem = caller.isNaive ? "canary:once:" : "";
    const ask = (key: string): Promise<number> => (caller.isNaive ? naive(caller, key) : held(caller, key));
    return {
      async round() {
        // All workers of this machine have one monotonic clock.
        const slot = `${stem}slot ${Math.floor(caller.nowMs / slotMs)}`;
        await caller.attempt("once", slot, () => ask(slot), { withinMs, found: (value) => ({ value }) });
      },
      async last() {
        await caller.insist("once", `${stem}last`, () => ask(`${stem}last`));
      },
    };
  },
  judge(found) {
    // A clock that is set ends what is kept.
    const wasLost = (fromMs: number, toMs: number): boolean =>
      found.wasLost(fromMs, toMs) || found.wasClockWrong(fromMs, toMs);
    return [...checkAnswers(found.operations, wasLost), ...checkFences(found.operations, wasLost)];
  },
};

/** The number of the run that is the result. */
async function held(caller: Caller, key: string): Promise<number> {
  const { hf, dice, recorder } = caller;
  const work = async (fence: bigint): Promise<number> => {
    const value = dice.whole(1, 2 ** 40);
    const run = recorder.begin("run", key, { token: fence, value });
    await caller.pause(dice.between(workMs.low, workMs.high));
    run.ok();
    return value;
  };
  const { value } = await hf.once(key, ({ fence }) => work(fence), { keep: "1h", wait: waitMs, ttl: ttlMs });
  return value;
}

/** Two who look at the same time both work, and get two results. */
async function naive({ redis, dice, pause }: Caller, key: string): Promise<number> {
  const there = await redis.get(key);
  if (there !== null) return Number(there);
  const value = dice.whole(1, 2 ** 40);
  await pause(dice.between(workMs.low, workMs.high));
  await redis.set(key, String(value), "PX", 3_600_000);
  return value;
}
