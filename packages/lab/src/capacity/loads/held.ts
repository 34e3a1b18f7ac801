/** Locks that are held: what their renewals cost, and what they occupy. */
import type { Lease } from "holdfast";
import { counted, inGroups, type Load, shareOf, uncounted, warmLocks } from "../load.js";

/** What taking them leaves to do is no part of holding them. */
const settleMs = 1_500;

export const held: Load = {
  id: "held",
  helpers: 0,
  phases: [counted("warm"), counted("take"), uncounted("settle"), counted("keep"), counted("release")],
  join(member, { names, watchMs }) {
    const { hf, place, sleep } = member;
    const leases: Lease[] = [];
    const still = () => leases.filter(({ valid }) => valid).length;
    return {
      warm: () => warmLocks(member),
      async take() {
        const taken = await inGroups(shareOf(names, member), (n) => hf.mutex(`held:${place}:${n}`).acquire());
        leases.push(...taken);
        return leases.length;
      },
      settle: () => sleep(settleMs).then(still),
      keep: () => sleep(watchMs).then(still),
      async release() {
        await inGroups(leases.length, async (n) => leases[n]?.release());
        return leases.length;
      },
    };
  },
};
