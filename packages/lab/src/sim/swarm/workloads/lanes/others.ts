/** Rounds of lanes that not every run has: their operator's, limits of one lane, and waits for outcomes. */
import type { Lanes } from "holdfast";
import { type Caller, type Rounds, round } from "../../workload.js";
import { operatingKinds } from "../operating.js";
import { callsOfOne } from "../receiver.js";
import { name, type Shared } from "./run.js";

const all = { all: true } as const;
const longMs = 1_000;

export function otherKinds(caller: Caller, shared: Shared, lanes: Lanes<string, string>): Rounds["kinds"] {
  const { names, terms, tickets } = shared;
  const { dice, plan } = caller;
  const [one = "a"] = names;
  const list = async (): Promise<number> => {
    let count = 0;
    for await (const _ of lanes.list()) count += 1;
    return count;
  };
  const looks = [
    () => lanes.state(),
    () => lanes.lane(one),
    () => lanes.peek(one, { count: 3 }),
    () => lanes.inFlight(),
    list,
  ];
  const operated = {
    name,
    looks,
    dead: (options: { readonly count: number }) => lanes.dead(options),
    redrive: (ids: Parameters<typeof lanes.redrive>[0]) => lanes.redrive(ids),
    drain: () => lanes.drain(dice.chance(0.5) ? all : dice.pick(names)),
    reset: () => lanes.reset(),
  };
  return {
    ...operatingKinds(caller, operated, terms),
    "limit a lane": round(
      async (place: number, inFlight: number | null) => {
        const lane = names[place % names.length] ?? one;
        await caller.attempt("limit", name, () => lanes.limit(lane, inFlight === null ? null : { inFlight }));
      },
      terms.limits.length > 0 ? 1 : 0,
      (drawn) => [drawn.whole(0, names.length - 1), drawn.pick([null, ...terms.limits])],
    ),
    outcome: round(
      async (waitMs: number, giveUpMs: number | null) => {
        const ticket = tickets.at(-1);
        if (ticket === undefined) return;
        const signal = caller.givesUpAfter(giveUpMs);
        const wait = () => lanes.result(ticket, { wait: waitMs, signal });
        const withinMs = waitMs + callsOfOne * plan.callTimeoutMs;
        await caller.attempt("result", name, wait, { waitMs, withinMs, signal });
      },
      1,
      (drawn) => [drawn.pick([0, 300, longMs]), drawn.pick([null, null, 20])],
    ),
  };
}
