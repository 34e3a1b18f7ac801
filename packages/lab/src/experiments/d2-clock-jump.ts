/** D2: the clock of a server is set forward. */
import { noneMissing } from "./account.js";
import { exclusion, fence, tokens } from "./check.js";
import { experiment } from "./experiment.js";
import { notYet, splitRecipes } from "./split-quorum.js";

const jumpMs = 30_000;

const [naive, holdfast, quorum] = splitRecipes({
  atMs: 1_000,
  strike: (trial, node) => {
    node.valkey.clock.step(jumpMs);
    trial.forget();
    trial.mark(node.name, "clock", `the clock of ${node.name} is set forward by 30 s`);
  },
  told: (server) => `The clock of ${server} was set forward by 30 s. It ended a lease that had 9 s left`,
});

export const clockJump = experiment({
  id: "D2",
  title: "A clock that jumps",
  question:
    "Redis ends leases by the clock on its wall. An administrator, or a time service after a long gap, sets the clock of " +
    "one of five servers forward by half a minute. Does a majority still mean that nobody else has the lock?",
  recipes: [
    { ...naive!, checks: [exclusion, noneMissing, fence] },
    { ...holdfast!, checks: [noneMissing, fence, tokens], notPromised: [exclusion] },
    { ...quorum!, checks: [noneMissing, fence, tokens], notPromised: [exclusion] },
  ],
  checks: [],
  remark: notYet,
});
