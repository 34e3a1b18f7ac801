/** One lock that all processes want, one caller in each: what a turn costs, however many stand in line. */
import { counted, type Load, uncounted, warmLocks } from "../load.js";

const sectionMs = 5;

export const handOver: Load = {
  id: "hand-over",
  helpers: 0,
  phases: [uncounted("warm"), uncounted("gather"), counted("turns"), uncounted("leave")],
  join(member, { turnsMs }) {
    const { hf, sleep } = member;
    const mutex = hf.mutex("hot");
    const leaving = new AbortController();
    let turns = 0;
    let ended: Promise<void> = Promise.resolve();
    const takeTurns = async () => {
      while (!leaving.signal.aborted) {
        const lease = await mutex.acquire({ wait: "12h", signal: leaving.signal }).catch(() => null);
        if (!lease) return;
        await sleep(sectionMs);
        turns += 1;
        await lease.release();
      }
    };
    return {
      warm: () => warmLocks(member),
      async gather() {
        ended = takeTurns();
        await sleep(turnsMs);
        return 0;
      },
      async turns() {
        const before = turns;
        await sleep(turnsMs);
        return turns - before;
      },
      async leave() {
        leaving.abort();
        await ended;
        return 0;
      },
    };
  },
};
