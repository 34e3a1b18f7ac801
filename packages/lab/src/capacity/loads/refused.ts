/** Calls that a limit refuses, all for one target: what reaches the server of them. */
import { counted, type Load, uncounted } from "../load.js";

const terms = { max: 10, per: "1m" } as const;
/** Calls that a process makes in one turn, where it makes many. */
const shortestTurnMs = 10;

function refusing(id: string, more: { readonly block?: number; readonly cache?: boolean }): Load {
  return {
    id,
    helpers: 0,
    phases: [uncounted("warm"), uncounted("exhaust"), counted("call")],
    join(member, { callsPerSecond, callsMs }) {
      const { hf, place, processes, nowMs, sleep } = member;
      const limit = hf.limit(id, { ...terms, ...more });
      const refusedOf = async (calls: number) => {
        let refused = 0;
        for (let n = 0; n < calls; n += 1) if (!(await limit.take("one")).ok) refused += 1;
        return refused;
      };
      return {
        async warm() {
          await limit.take(`warm:${place}`);
          return 0;
        },
        exhaust: async () => (place === 0 ? await refusedOf(2 * terms.max) : 0),
        async call() {
          const turnMs = Math.max(shortestTurnMs, (processes * 1_000) / callsPerSecond);
          const calls = Math.round((callsPerSecond * turnMs) / 1_000 / processes);
          const startMs = nowMs() + (turnMs * place) / processes;
          let refused = 0;
          for (let turn = 0; turn < callsMs / turnMs; turn += 1) {
            await sleep(Math.max(1, startMs + turn * turnMs - nowMs()));
            refused += await refusedOf(calls);
          }
          return refused;
        },
      };
    },
  };
}

export const refused = refusing("refused", {});
export const refusedInBlocks = refusing("refused-block", { block: terms.max / 2 });
export const refusedUncached = refusing("refused-uncached", { cache: false });
