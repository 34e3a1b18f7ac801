/** All experiments, in the order in which they are listed. */

import { pause } from "./d1-pause.js";
import { clockJump } from "./d2-clock-jump.js";
import { amnesia } from "./d3-amnesia.js";
import { failover } from "./d4-failover.js";
import { foreignRelease } from "./d5-foreign-release.js";
import { crashBeforeExpire } from "./d6-crash-before-expire.js";
import { getset } from "./d8-getset.js";
import { longerThanTheLease } from "./d9-long-work.js";
import { thousandWaiters } from "./d10-crowd.js";
import { lostReply } from "./d11-lost-reply.js";
import { ghostLock } from "./d12-ghost-lock.js";
import { missedWakeUp } from "./d13-missed-wake-up.js";
import { eviction } from "./d14-eviction.js";
import { lateFence } from "./d16-late-fence.js";
import { replay } from "./d18-replay.js";
import { twoLeaders } from "./d19-two-leaders.js";
import { twoWorkers } from "./d20-two-workers.js";
import { quorumPause } from "./d21-quorum-pause.js";
import { latePackets } from "./d22-late-packets.js";
import { readersAndWriters } from "./d23-readers-and-writers.js";
import { twoOrders } from "./d24-two-orders.js";
import type { Experiment } from "./experiment.js";

export const experiments: readonly Experiment[] = [
  pause,
  clockJump,
  amnesia,
  failover,
  foreignRelease,
  crashBeforeExpire,
  getset,
  longerThanTheLease,
  thousandWaiters,
  lostReply,
  ghostLock,
  missedWakeUp,
  eviction,
  lateFence,
  replay,
  twoLeaders,
  twoWorkers,
  quorumPause,
  latePackets,
  readersAndWriters,
  twoOrders,
];

/** "3", "D3" or "d3". */
export function findExperiment(name: string): Experiment | undefined {
  const number = /^[dD]?(\d{1,2})$/.exec(name)?.[1];
  return experiments.find(({ id }) => number !== undefined && id === `D${Number(number)}`);
}
