/** D2: the clock of a server is set forward. */
import { experiment } from "./experiment.js";
import { splitRecipes } from "./split-quorum.js";

const jumpMs = 30_000;

export const clockJump = experiment({
  id: "D2",
  title: "A clock that jumps",
  question:
    "Redis ends leases by the clock on its wall. An administrator, or a time service after a long gap, sets the clock of " +
    "one of five servers forward by half a minute. Does a majority still mean that nobody else has the lock?",
  recipes: splitRecipes({
    atMs: 1_000,
    strike: (trial, node) => {
      node.valkey.clock.step(jumpMs);
      trial.mark(node.name, "clock", `the clock of ${node.name} is set forward by 30 s`);
    },
    told: (server) => `The clock of ${server} was set forward by 30 s. It ended a lease that had 9 s left`,
    excludes: false,
  }),
  checks: [],
  remark:
    "Kleppmann's point: one clock that jumps is enough, when two majorities have only that server in common. Sanfilippo's answer is that " +
    "operators can keep clocks from jumping. Both are true of every Redlock, also of holdfast's: exclusion needs the clocks of the servers. " +
    "The order of the tokens does not. The storage accepted nothing from Ann after Bob had entered.",
});
