/**
 * What takes long begins first, so that no worker is left alone with it at the end. A clone that has never run the suites
 * knows no durations, and vitest would begin with large files; those that take longest here are small ones that run the
 * cases of another package, or start programs.
 */
import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The first of these that a path begins with is its place; what is in none comes last. */
const order = [
  "packages/conformance/test/some",
  // Computes for as long as the next ones wait.
  "packages/lab/test/sim/workloads",
  "packages/conformance/test/quorum-",
  "packages/lab/test/conformance/",
  "packages/lab/test/sim/",
  "packages/cli/",
  "examples/",
  "bench/",
  "packages/conformance/",
  "packages/lab/",
];

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // By name where nothing else decides: what earlier runs have left behind must not decide which file meets which.
    return [...files].sort((a, b) => this.#place(a) - this.#place(b) || (a.moduleId < b.moduleId ? -1 : 1));
  }

  #place({ moduleId }: TestSpecification): number {
    const path = relative(this.ctx.config.root, moduleId);
    const place = order.findIndex((prefix) => path.startsWith(prefix));
    return place < 0 ? order.length : place;
  }
}
