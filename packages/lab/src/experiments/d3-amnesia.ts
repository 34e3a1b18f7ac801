/** D3: a server restarts without what it knew. */
import { noneMissing } from "./account.js";
import { exclusion, fence, tokens } from "./check.js";
import { experiment } from "./experiment.js";
import { notYet, splitRecipes } from "./split-quorum.js";

const downMs = 300;

const [naive, holdfast, quorum] = splitRecipes({
  atMs: 1_000,
  strike: (trial, node) => {
    trial.mark(node.name, "crash", `${node.name} crashes; what it knew was not on its disk`);
    node.crash();
    trial.forget();
    trial.world.at(trial.nowMs + downMs, () => {
      node.restart({ keep: "nothing" });
      trial.mark(node.name, "restart", `${node.name} is back, empty`);
    });
  },
  told: (server) => `${server} crashed and came back empty`,
});

export const amnesia = experiment({
  id: "D3",
  title: "A server that restarts and has forgotten",
  question:
    "Five servers, a lock needs three. One of Ann's three crashes and restarts within a second, without the last writes " +
    "on its disk. Bob asks the other two, and the one that has forgotten. Is that a majority?",
  recipes: [
    { ...naive!, checks: [exclusion, noneMissing, fence] },
    { ...holdfast!, checks: [noneMissing, fence, tokens], notPromised: [exclusion] },
    { ...quorum!, checks: [noneMissing, fence, tokens], notPromised: [exclusion] },
  ],
  checks: [],
  remark: notYet,
});
