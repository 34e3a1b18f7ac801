/**
 * With CI set nothing is skipped: what is missing there has to be installed. A test that skips itself with a reason, as
 * where this machine lacks a privilege, may do so; a filter by title (`-t`) skips the others.
 */
import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node";

export class NothingSkipped implements Reporter {
  #isFiltered = false;

  onInit({ config }: Vitest): void {
    this.#isFiltered = config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (this.#isFiltered) return;
    const skipped = modules
      .flatMap((module) => [...module.children.allTests("skipped")])
      .filter(isUnexplained);
    if (skipped.length === 0) return;
    console.error("skipped without a reason, with CI set:");
    for (const { module, fullName } of skipped) console.error(`  ${module.relativeModuleId}: ${fullName}`);
    process.exitCode = 1;
  }
}

function isUnexplained(test: TestCase): boolean {
  const result = test.result();
  return result.state === "skipped" && !result.note;
}
