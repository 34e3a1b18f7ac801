/** Rounds of a queue that not every run has: its operator's, several pushes of one turn, and waits that are given up. */
import { type Delivery, type Queue, QueueFullError } from "holdfast";
import type { Pushed as Messages } from "../../../../history/messages.js";
import { type Caller, givenUp, type Rounds, round } from "../../workload.js";
import { operatingKinds } from "../operating.js";
import { callsOfOne } from "../receiver.js";
import { name, type Shared } from "./run.js";

const longMs = 1_000;

export function otherKinds(
  caller: Caller,
  shared: Shared,
  queue: Queue<string, string>,
  settle: (delivery: Delivery<string, string>) => Promise<void>,
): Rounds["kinds"] {
  const looks = [
    () => queue.state(),
    () => queue.peek({ count: 3 }),
    () => queue.delayed(),
    () => queue.inFlight(),
  ];
  const operated = {
    name,
    looks,
    dead: (options: { readonly count: number }) => queue.dead(options),
    redrive: (ids: Parameters<typeof queue.redrive>[0]) => queue.redrive(ids),
    drain: () => queue.drain(),
    reset: () => queue.reset(),
  };
  return {
    ...operatingKinds(caller, operated, shared.terms),
    burst: round(
      (count: number) => burst(caller, shared, queue, count),
      1,
      (dice) => [dice.whole(2, 8)],
    ),
    "give up": round(
      (afterMs: number) => giveUp(caller, shared, queue, afterMs),
      0.5,
      (dice) => [dice.pick([0, 1, 30, 200])],
    ),
    "receive for less": round(
      async (deadline: number) => {
        const receive = () => queue.receive({ wait: longMs, deadline });
        const more = { waitMs: longMs, withinMs: longMs + callsOfOne * caller.plan.callTimeoutMs };
        const done = await caller.attempt("receive", name, () => shared.demand.during(caller, receive), more);
        if (done.type === "ok" && done.value) await settle(done.value);
      },
      0.5,
      (dice) => [dice.pick([1_000, 2_000])],
    ),
  };
}

/** Pushes of one turn of the event loop, each by itself. */
async function burst(
  caller: Caller,
  shared: Shared,
  queue: Queue<string, string>,
  count: number,
): Promise<void> {
  const one = async (): Promise<void> => {
    const body = `${caller.name}/${++shared.bodies}`;
    const sentAs = (id: string | null, isNew: boolean | null): Messages => ({
      messages: [{ body, id, isNew }],
    });
    const droppable = shared.view.deliverable;
    const done = await caller.attempt("push", name, () => queue.push(body), {
      details: { value: sentAs(null, null) },
      found: ({ id, isNew }) => ({ value: sentAs(id, isNew) }),
    });
    if (done.type === "ok" && done.value.isNew) shared.pushed.push(done.value.id);
    if (done.type === "fail" && done.error instanceof QueueFullError) shared.drops.refused(1, droppable);
  };
  await Promise.all(Array.from({ length: count }, one));
}

async function giveUp(
  caller: Caller,
  shared: Shared,
  queue: Queue<string, string>,
  afterMs: number,
): Promise<void> {
  const { plan, dice } = caller;
  const id = shared.pushed.at(-1);
  const options = { wait: longMs, signal: caller.givesUpAfter(afterMs) };
  const withinMs = longMs + callsOfOne * plan.callTimeoutMs + 3_000;
  const more = { waitMs: longMs, withinMs, reason: givenUp };
  if (id !== undefined && dice.chance(0.5)) {
    await caller.attempt("wait for a result", name, () => queue.result(id, options), more);
    return;
  }
  if (!shared.terms.usesPop) return;
  const pop = () => shared.demand.during(caller, () => queue.pop(options));
  const done = await caller.attempt("pop", name, pop, {
    ...more,
    found: (message) => (message ? { value: { id: message.id, body: message.body, attempt: 0 } } : {}),
  });
  if (done.type !== "ok") shared.drops.lose(1);
}
