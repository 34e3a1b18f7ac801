/** D3: a server restarts without what it knew. */
import { experiment } from "./experiment.js";
import { longestTtlMs } from "./five.js";
import { splitRecipes } from "./split-quorum.js";
import { seconds } from "./words.js";

const downMs = 300;

export const amnesia = experiment({
  id: "D3",
  title: "A server that restarts and has forgotten",
  question:
    "Five servers, a lock needs three. One of Ann's three crashes and restarts within a second, without the last writes " +
    "on its disk. Bob asks the other two, and the one that has forgotten. Is that a majority?",
  recipes: splitRecipes({
    atMs: 1_000,
    strike: (trial, node, excludes) => {
      trial.mark(node.name, "crash", `${node.name} crashes; what it knew was not on its disk`);
      node.crash();
      trial.world.at(trial.nowMs + downMs, () => {
        node.restart({ keep: "nothing" });
        const silent = excludes ? `, and does not vote for ${seconds(longestTtlMs)}` : "";
        trial.mark(node.name, "restart", `${node.name} is back, empty${silent}`);
      });
    },
    told: (server) => `${server} crashed and came back empty`,
    excludes: true,
  }),
  checks: [],
  remark:
    "The documents of Redis know this schedule, and say how to avoid it: keep a server that crashed out for longer than the longest ttl. " +
    `Operators have to do so by hand. holdfast reads the start of each server, and does not count its votes for maxTtl, here ${seconds(longestTtlMs)}.`,
});
