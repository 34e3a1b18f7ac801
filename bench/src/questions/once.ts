/** What it costs to carry out work once for a key. */
import type { CallName } from "../contestants/contestant.js";
import type { CaseResult, Target } from "../result.js";
import { askOneCaller, type OneCaller } from "./one-caller.js";
import { limit, measured, type Question } from "./question.js";

const METHOD = `One caller, and work that takes no time. A cycle is one call. Done already: every call but the first finds the result, beside a
GET of a value of 80 bytes. First: a new key for each call, beside SET NX PX by hand with the result set afterwards, which blocks a
key for its whole life when the process dies in between.`;

const CASES: readonly OneCaller[] = [
  { id: "done", title: "done already", own: "holdfast-once-done", floor: "get" },
  { id: "first", title: "the first call for a key", own: "holdfast-once", floor: "set-once" },
];

export const once: Question = {
  id: "once",
  title: "Once: work for a key",
  async ask(setting) {
    const cases = await askOneCaller(setting, CASES);
    return { id: "once", title: this.title, method: METHOD, cases, targets: targetsOf(cases) };
  },
};

function targetsOf(cases: readonly CaseResult[]): Target[] {
  const requests = (id: string, name: CallName) => measured(cases, id, name)?.figures.requestsPerCycle;
  const say = (found: number) => found.toFixed(2);
  return [
    limit("Done already: one request", requests("done", "holdfast-once-done"), 1.01, say),
    limit("The first call: at most five requests", requests("first", "holdfast-once"), 5.05, say),
  ];
}
