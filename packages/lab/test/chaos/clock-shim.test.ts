import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, needing, program } from "@holdfast/conformance";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ClockShim } from "../../src/chaos/clock-shim.ts";
import { startProcess } from "../../src/chaos/server.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-shim-"));
let shim: ClockShim;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

needing(describe, "gcc")("the clock shim", () => {
  beforeAll(() => {
    const compiled = ClockShim.compile(folder);
    if (typeof compiled === "string") throw new Error(compiled);
    shim = compiled;
  });

  needing(it, "redis-server")("steps the clock of a server: what has a ttl is gone early", async () => {
    const clock = shim.clock(folder, "server");
    const server = await startProcess({ program: program("redis-server"), clock, link: null });
    try {
      await server.command("SET", "key", "1", "PX", 30_000);
      clock.set(-60_000);
      expect(Number(await server.command("PTTL", "key"))).toBeGreaterThan(80_000);
      clock.set(31_000);
      expect(await server.command("GET", "key")).toBeNull();
      const [seconds] = (await server.command("TIME")) as string[];
      expect(Number(seconds) - Date.now() / 1_000).toBeGreaterThan(29);
    } finally {
      await server.stop();
    }
  });

  it("steps the wall clock of a worker, and not its monotonic one", async () => {
    const clock = shim.clock(folder, "node");
    clock.set(-3_600_000);
    const code = "process.stdout.write(`${Date.now()} ${process.hrtime.bigint() / 1000000n}`)";
    const child = launch(process.execPath, ["-e", code], { env: { ...process.env, ...clock.env } });
    let said = "";
    child.stdout?.on("data", (bytes) => {
      said += bytes;
    });
    await once(child, "close");
    const [wallMs = 0, monoMs = 0] = said.split(" ").map(Number);
    expect(Math.abs(Date.now() - 3_600_000 - wallMs)).toBeLessThan(10_000);
    expect(Math.abs(Number(process.hrtime.bigint() / 1_000_000n) - monoMs)).toBeLessThan(10_000);
  });
});
