/** D20: two workers, and events that must happen in the order of their order. */
import type { Node } from "../sim/node.js";
import type { Actor } from "./actor.js";
import { experiment } from "./experiment.js";
import { happened } from "./need.js";
import {
  applied,
  atOnce,
  inOrder,
  nameOf,
  type OrderEvent,
  Orders,
  oneAtATime,
  swapped,
  Unavailable,
} from "./orders.js";
import { deleteOwn } from "./recipes.js";
import type { Told, Trial } from "./trial.js";
import { counted, seconds } from "./words.js";

const lastsMs = 30_000;
const ttlMs = 10_000;
/** A worker with an empty list asks again after this. */
const idleMs = 200;
const retryMs = 500;

interface Cast {
  readonly workers: readonly Actor[];
  readonly redis: Node;
  readonly orders: Orders;
  readonly events: readonly OrderEvent[];
  /** Whose first way back to the list is in the picture. */
  readonly drawn: Set<OrderEvent>;
}

/** The first event takes long; the second fails once. */
function castOf(trial: Trial): Cast {
  const workers = [trial.actor("Ann"), trial.actor("Bob")];
  const redis = trial.server("Redis");
  const orders = new Orders(trial);
  const slowMs = trial.between(2_000, 3_000, "slow");
  const event = (order: string, number: number, what: string, takesMs = 300, failures = 0): OrderEvent => ({
    ...{ order, number, what, takesMs, failures },
  });
  const events = [
    event("order 7", 1, "placed", slowMs),
    event("order 7", 2, "paid", 300, 1),
    event("order 8", 1, "placed"),
    event("order 7", 3, "shipped"),
    event("order 8", 2, "paid"),
  ];
  trial.picture.held = "handles an event";
  trial.picture.labels = "72 is the second of order 7";
  trial.picture.caption = "Workers are on the left; the storage keeps the events of each order as they come.";
  trial.tell = () => told(trial, orders);
  return { workers, redis, orders, events, drawn: new Set() };
}

/** @param draw the taking of the event, with more words behind it */
type Work = (worker: Actor, cast: Cast, event: OrderEvent, draw: (what: string) => void) => Promise<void>;

function playList(trial: Trial, work: Work): void {
  const cast = castOf(trial);
  for (const worker of cast.workers) worker.run(() => workOn(worker, cast, work));
  const [shop] = cast.workers;
  shop?.run(() => putBack(shop, cast, ...cast.events));
}

/** Takes from the head of a list, over and over. */
async function workOn(worker: Actor, cast: Cast, work: Work): Promise<void> {
  for (;;) {
    const sentMs = worker.nowMs;
    const text = await worker.ask(cast.redis, ["LPOP", "events"], { label: "" });
    const event = cast.events[Number(text)];
    if (text === null || !event) {
      await worker.sleep(idleMs);
      continue;
    }
    await work(worker, cast, event, (what) =>
      worker.drawCall(cast.redis.name, sentMs, `LPOP → ${nameOf(event)}${what}`),
    );
  }
}

async function putBack(
  worker: Actor,
  { redis, events }: Cast,
  ...some: readonly OrderEvent[]
): Promise<void> {
  const words = some.map((event) => String(events.indexOf(event)));
  await worker.ask(redis, ["RPUSH", "events", ...words], { label: "" });
}

const workAtOnce: Work = async (worker, cast, event, draw) => {
  draw("");
  await cast.orders.handle(worker, event).catch(async (error) => {
    if (!(error instanceof Unavailable)) throw error;
    await putBack(worker, cast, event);
  });
};

/** One lock for each order: who does not get it puts the event back, behind the others. */
const workUnderLock: Work = async (worker, cast, event, draw) => {
  const key = `lock:${event.order}`;
  const words = ["SET", key, worker.name, "NX", "PX", String(ttlMs)];
  if ((await worker.ask(cast.redis, words, { label: "" })) !== "OK") {
    worker.trial.count("events put back because of the lock");
    if (!cast.drawn.has(event)) draw("; its order is locked: RPUSH, and so on until it is not");
    cast.drawn.add(event);
    await putBack(worker, cast, event);
    await worker.sleep(idleMs);
    return;
  }
  await workAtOnce(worker, cast, event, draw);
  await deleteOwn(worker, cast.redis, key);
};

function playLanes(trial: Trial): void {
  const { workers, redis, orders, events } = castOf(trial);
  const lanesOf = (worker: Actor) => worker.holdfast(redis).lanes<number>("events");
  for (const worker of workers)
    worker.run(() =>
      lanesOf(worker).consume(
        async ({ body, lane, attempt }) => {
          const event = events[body];
          if (!event) throw new Error(`there is no event ${body}`);
          const [sentMs, receivedMs] = [worker.nowMs - 1, worker.nowMs];
          const label = `${lane}: event ${event.number}, attempt ${attempt}`;
          trial.picture.arrows.push({ from: redis.name, to: worker.name, sentMs, receivedMs, label });
          await orders.handle(worker, event);
        },
        { backoff: retryMs },
      ),
    );
  const [shop] = workers;
  shop?.run(() => lanesOf(shop).pushMany(events.map(({ order }, body) => ({ lane: order, body }))));
}

function told(trial: Trial, orders: Orders): Told {
  const stories = ["order 7", "order 8"].map((order) => `${order} was ${orders.story(order)}`).join("; ");
  const wrong = swapped(trial.operations).length;
  const atOnceMs = Math.round(Math.max(0, ...atOnce(trial).values()));
  const back = trial.counts["events put back because of the lock"] ?? 0;
  const ended = trial.operations.filter(({ f }) => f === "apply").map(({ retMs }) => Number(retMs));
  const reason =
    atOnceMs > 0
      ? "A list gives the next event to the next worker, whatever order it belongs to, and a retry goes to its end."
      : wrong > 0
        ? `The lock kept the events apart, and not in order: ${counted(back, "time")} an event went to the end of the ` +
          "list because its order was locked, and so did the one that failed; others overtook it."
        : "While an event of an order is at work, or waits for its next attempt, the order gives out no other one; the " +
          "other order went on meanwhile.";
  return {
    sentence: `${reason} In the end ${stories}.`,
    figures: {
      "two events of one order at once, ms": atOnceMs,
      "events out of order": wrong,
      "put back because of the lock": back,
      "all applied after": seconds(Math.max(0, ...ended)),
    },
  };
}

export const twoWorkers = experiment({
  id: "D20",
  title: "Two workers, one order",
  question:
    "The events of an order have to happen one after the other: placed, paid, shipped. Two workers share the work. One " +
    "event takes long, and one fails and is tried again. Do they still happen one after the other?",
  recipes: [
    {
      ...{ side: "naive", name: "a plain list", lastsMs },
      steps: [
        "event = LPOP events",
        "handle(event)",
        "it failed: RPUSH events <event>          try again later",
      ],
      needs: [applied(5), happened("attempts that failed")],
      play: (trial) => playList(trial, workAtOnce),
    },
    {
      ...{ side: "naive", name: "a list, and a lock for each order", lastsMs },
      steps: [
        "event = LPOP events",
        "SET lock:<order> <me> NX PX 10000        nil: RPUSH events <event>, the next one",
        "handle(event)",
        "it failed: RPUSH events <event>          try again later",
        "if GET lock:<order> is <me> then DEL lock:<order>",
      ],
      needs: [applied(5), happened("attempts that failed"), happened("events put back because of the lock")],
      play: (trial) => playList(trial, workUnderLock),
    },
    {
      ...{ side: "holdfast", name: "lanes", lastsMs },
      steps: [
        'lanes = hf.lanes("events")',
        "await lanes.push(order, event)           a lane for each order",
        "lanes.consume(handle, { backoff: 500 })  one of a lane at a time; a failed one keeps its place",
      ],
      needs: [applied(5), happened("attempts that failed")],
      play: playLanes,
    },
  ],
  checks: [oneAtATime, inOrder],
});
