/** The kinds that `ls`, `show` and `watch` know. */
import { barriers } from "./barriers.js";
import { elections } from "./elections.js";
import { events } from "./events.js";
import type { Kind, Named } from "./kind.js";
import { lanes } from "./lanes.js";
import { latches } from "./latches.js";
import { locks } from "./locks.js";
import type { KindName } from "./names.js";
import { once } from "./once.js";
import { rwLocks, semaphores } from "./permits.js";
import { queues } from "./queues.js";
import { signals } from "./signals.js";

const kinds = {
  lock: locks,
  semaphore: semaphores,
  rwlock: rwLocks,
  election: elections,
  once,
  event: events,
  latch: latches,
  barrier: barriers,
  signal: signals,
  queue: queues,
  lanes,
} satisfies Record<KindName, unknown>;

/** A command passes each kind only the states that came from it. */
export function kindOf(name: KindName): Kind<Named> {
  return kinds[name] as unknown as Kind<Named>;
}
