/** Tells the program that runs vitest of every test that ends: while tests end, no limit ends the run. */
import type { Reporter } from "vitest/node";

export class Progress implements Reporter {
  onTestCaseResult(): void {
    process.send?.("a test has ended");
  }
}
