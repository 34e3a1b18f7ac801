import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ClockShim } from "../../src/chaos/clock-shim.ts";
import { startProcess } from "../../src/chaos/server.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-shim-"));
const compiled = ClockShim.compile(folder);
const shim = typeof compiled === "string" ? null : compiled;
const program = process.env.HOLDFAST_REDIS_SERVER ?? "";
const why = typeof compiled === "string" ? ` (${compiled})` : "";

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the clock shim", () => {
  it.skipIf(!shim || !program)(
    `steps the clock of a server: what has a ttl is gone early${why}`,
    async () => {
      const clock = shim?.clock(folder, "server") ?? null;
      const server = await startProcess({ program, clock, link: null });
      try {
        await server.command("SET", "key", "1", "PX", 30_000);
        clock?.set(-60_000);
        expect(Number(await server.command("PTTL", "key"))).toBeGreaterThan(80_000);
        clock?.set(31_000);
        expect(await server.command("GET", "key")).toBeNull();
        const [seconds] = (await server.command("TIME")) as string[];
        expect(Number(seconds) - Date.now() / 1_000).toBeGreaterThan(29);
      } finally {
        await server.stop();
      }
    },
  );

  it.skipIf(!shim)(`steps the wall clock of a worker, and not its monotonic one${why}`, async () => {
    const clock = shim?.clock(folder, "node");
    clock?.set(-3_600_000);
    const code = "process.stdout.write(`${Date.now()} ${process.hrtime.bigint() / 1000000n}`)";
    const child = spawn(process.execPath, ["-e", code], { env: { ...process.env, ...clock?.env } });
    let said = "";
    child.stdout.on("data", (bytes) => {
      said += bytes;
    });
    await once(child, "close");
    const [wallMs = 0, monoMs = 0] = said.split(" ").map(Number);
    expect(Math.abs(Date.now() - 3_600_000 - wallMs)).toBeLessThan(10_000);
    expect(Math.abs(Number(process.hrtime.bigint() / 1_000_000n) - monoMs)).toBeLessThan(10_000);
  });
});
