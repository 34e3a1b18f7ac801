/** Counts what a run left out, by reason, and says it last, where it is seen: how to have the rest. */
import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node";
import { servers } from "./servers.ts";

export class LeftOut implements Reporter {
  #isFiltered = false;

  onInit({ config }: Vitest): void {
    // A filter by title (`-t`) skips the others, which need no reason.
    this.#isFiltered = config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (this.#isFiltered) return;
    const reasons = modules.flatMap((module) => [...module.children.allTests("skipped")]).map(reasonOf);
    if (reasons.length > 0) console.log(summary(reasons));
  }
}

/** What stands in parentheses behind the title of the test or of a suite that it is in: the outermost of them, or the test's own note. */
function reasonOf(test: TestCase): string {
  const result = test.result();
  const [, titled] = /\((no [^()]+)\)(?: > |$)/.exec(test.fullName) ?? [];
  return titled ?? (result.state === "skipped" ? result.note : undefined) ?? "no reason given";
}

/** One line for each reason, the largest first. */
export function summary(reasons: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const rows = [...counts].sort(([, a], [, b]) => b - a);
  const lines = rows.map(([reason, count]) => `${String(count).padStart(6)}  ${reason}${remedyFor(reason)}`);
  return [`left out: ${reasons.length}`, ...lines].join("\n");
}

/** How to get the first program that is missing. */
function remedyFor(reason: string): string {
  const [, name] = /^no ([\w-]+)/.exec(reason) ?? [];
  const server = servers.find(({ program }) => program === name);
  return server === undefined ? "" : ` (${server.install})`;
}
