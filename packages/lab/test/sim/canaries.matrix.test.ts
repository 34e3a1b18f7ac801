/** Every canary of every workload, on the seed that it names. `npm run soak` hunts them on other seeds. */
import { isFound, workloads } from "@holdfast/lab/sim";
import { describe, expect, it } from "vitest";

describe.each([...workloads])("$name", (workload) => {
  it.each(workload.canaries)("$rule finds: $what", { timeout: 240_000 }, async (canary) => {
    expect(await isFound(workload, canary)).toBe(true);
  });
});
