/** Behind nginx: the servers on ports of their own, one address in front. */

import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { needing } from "@holdfast/conformance";
import { describe, expect, test, vi } from "vitest";
import { Program } from "./store-program.js";

// Whole processes: a few seconds each, several times that on a machine with its hands full.
vi.setConfig({ testTimeout: 60_000 });

needing(describe, "nginx")("behind nginx", () => {
  test("the sale is exact, a killed server included, and nginx goes with it", async () => {
    const sale = [
      "--nginx",
      "--kill",
      "--ttl",
      "600",
      "--stock",
      "40",
      "--requests",
      "320",
      "--variants",
      "mutex",
    ];
    const program = new Program([...sale, "--json", "--no-report"]);
    const { exitCode, stdout, stderr } = await program.ended();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const [result] = JSON.parse(stdout).variants;
    expect(result).toMatchObject({ name: "mutex", oversold: 0, killedPids: [expect.any(Number)] });
    expect(result.sold + result.lost).toBe(40);
    expect(await program.leftBehind()).toEqual([]);
  });

  test("nginx goes when the first process is killed", async () => {
    const folders = (): string[] =>
      readdirSync(tmpdir()).filter((name) => name.startsWith("flash-sale-nginx-"));
    const before = folders();
    const program = new Program(["--nginx", "--requests", "1000000", "--variants", "script", "--no-report"]);
    const runs = (): boolean => program.members().some((args) => args.includes("nginx.conf"));
    await expect.poll(runs, { timeout: 30_000 }).toBe(true);
    program.child.kill("SIGKILL");
    expect(await program.leftBehind()).toEqual([]);
    expect(folders().filter((name) => !before.includes(name))).toEqual([]);
  });
});
