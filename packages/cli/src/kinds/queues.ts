/** Queues, as `ls`, `show` and `watch` show them. */
import type { QueueState } from "holdfast";
import { showDuration } from "../duration.js";
import { printable } from "../output/text.js";
import type { Kind } from "./kind.js";
import { stuckIn } from "./stuck.js";

export const queues: Kind<QueueState> = {
  name: "queue",
  plural: "queues",
  none: "no queue is in use",
  columns: [
    { head: "QUEUE", align: "left", shrinks: true, rank: 8 },
    { head: "WAITING", align: "right", shrinks: false, rank: 7 },
    { head: "OLDEST", align: "right", shrinks: false, rank: 4 },
    { head: "DELAYED", align: "right", shrinks: false, rank: 3 },
    { head: "IN FLIGHT", align: "right", shrinks: false, rank: 6 },
    { head: "DEAD", align: "right", shrinks: false, rank: 5 },
    { head: "FREE", align: "right", shrinks: false, rank: 2 },
    { head: "ORDER", align: "left", shrinks: false, rank: 1 },
  ],
  list: (inspector, pattern) => inspector.queues({ pattern }),
  look: (inspector, name) => inspector.queue(name),
  cells: (queue) => [
    queue.isPaused ? `${printable(queue.name)} (paused)` : printable(queue.name),
    counted(queue.waiting + queue.returned),
    queue.oldestMs === null ? "" : showDuration(queue.oldestMs),
    counted(queue.delayed),
    counted(queue.inFlight),
    counted(queue.dead),
    counted(queue.idle),
    queue.order ?? "",
  ],
  isIdle: (queue) => workOf(queue) === 0,
  details: (queue) => [
    ["state", queue.exists ? (queue.isPaused ? "paused" : "running") : "unused"],
    ["order", queue.order ?? "fifo, as long as no program says lifo"],
    ["waiting", waitingOf(queue)],
    ["delayed", String(queue.delayed)],
    ["in flight", String(queue.inFlight)],
    ["dead", String(queue.dead)],
    ["free places", `${queue.idle} in ${queue.processes} processes`],
    ...stuckIn(queue),
  ],
  sum(all) {
    const waiting = all.reduce((sum, queue) => sum + queue.waiting + queue.returned, 0);
    return `${waiting} waiting, ${all.reduce((sum, { inFlight }) => sum + inFlight, 0)} in flight`;
  },
  /** `paused`, `resumed`; `dead`: more dead letters than at the look before; `counts`: another number of messages. */
  changeOf(before, now) {
    if (now.isPaused !== (before?.isPaused ?? false)) return now.isPaused ? "paused" : "resumed";
    if (before && now.dead > before.dead) return "dead";
    return countsOf(now) !== (before ? countsOf(before) : NO_COUNTS) ? "counts" : null;
  },
  told(event, queue) {
    if (event === "counts") return countsOf(queue);
    return `${event === "dead" ? "has new dead letters" : event}, ${countsOf(queue)}`;
  },
  gone: (before) => ({
    event: "reset",
    state: { ...before, exists: false, order: null, isPaused: false, oldestMs: null, ...NOTHING },
  }),
};

const NOTHING = {
  waiting: 0,
  returned: 0,
  delayed: 0,
  inFlight: 0,
  dead: 0,
  idle: 0,
  processes: 0,
  stuck: 0,
};

function counted(count: number): string {
  return count > 0 ? String(count) : "";
}

function workOf({ waiting, returned, delayed, inFlight, dead }: Counts): number {
  return waiting + returned + delayed + inFlight + dead;
}

type Counts = Pick<QueueState, "waiting" | "returned" | "delayed" | "inFlight" | "dead">;

function countsOf({ waiting, returned, delayed, inFlight, dead }: Counts): string {
  return `${waiting + returned} waiting, ${delayed} delayed, ${inFlight} in flight, ${dead} dead`;
}

const NO_COUNTS = countsOf(NOTHING);

function waitingOf({ waiting, returned, oldestMs }: QueueState): string {
  const back = returned > 0 ? `, ${returned} of them delivered before` : "";
  const oldest = oldestMs === null ? "" : `, the oldest for ${showDuration(oldestMs)}`;
  return `${waiting + returned}${back}${oldest}`;
}
