/** Real servers, real processes, real faults, for some seconds. `npm run chaos` does the same for as long as one likes. */
import { needing, program as programOf } from "@holdfast/conformance";
import { faultKinds, runChaos, summary } from "@holdfast/lab/chaos";
import { describe, expect, it } from "vitest";

const program = programOf("redis-server");
const SEED = 7;

needing(describe, "redis-server")("holdfast under real faults", () => {
  it("breaks no rule, while the canaries are caught", { timeout: 90_000 }, async () => {
    const servers = [{ title: "redis-server", program }];
    const options = { seed: SEED, lengthMs: 0, servers, vaultProgram: program, chaosMs: 7_000 };
    const outcome = await runChaos(options);
    const { tally } = outcome;
    const said = summary(outcome);
    expect(tally.violations, said).toEqual([]);
    expect(tally.void, said).toBeNull();
    expect(tally.allCaught, said).toBeGreaterThan(0);
    expect(tally.grants, said).toBeGreaterThan(20);
    expect(tally.struck, said).toBeGreaterThan(5);
    // Where CI leaves faults out, it is for want of the privilege, never of a compiler.
    if (process.env.CI) expect([...tally.off].filter(([kind]) => kind !== "one-way-drop")).toEqual([]);
  });

  it("knows its faults by name", () => {
    expect(new Set(faultKinds()).size).toBe(faultKinds().length);
    expect(faultKinds()).toContain("worker-pause");
  });
});
