/** The sale as a user sees it: what is sold, what is printed, what is written. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type Ended, Program, run, scratchFolder } from "./store-program.js";

const SMALL = ["--stock", "40", "--requests", "320", "--servers", "2", "--no-report"];

interface Line {
  readonly stock: number;
  readonly requests: number;
  readonly servers: number;
  readonly variants: readonly {
    readonly name: string;
    readonly sold: number;
    readonly oversold: number;
    readonly lost: number;
    readonly errors: number;
    readonly requestsPerSecond: number;
    readonly latencyMs: { readonly p50: number; readonly p99: number; readonly max: number };
    readonly unheardSales: number;
    readonly killedPids: readonly number[];
  }[];
}

function lastLine({ stdout }: Ended): Line {
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
}

// Whole processes: a few seconds each, several times that on a machine with its hands full.
vi.setConfig({ testTimeout: 60_000 });

describe("a sale", () => {
  test("oversells without a lock, and sells the stock exactly in every other way", async () => {
    const program = new Program(["--once", "--json", "--no-report"]);
    const ended = await program.ended();
    expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
    const line = lastLine(ended);
    expect(Object.keys(line).slice(0, 4)).toEqual(["stock", "requests", "servers", "variants"]);
    expect(line).toMatchObject({ stock: 200, requests: 1_600, servers: 4, kill: false, nginx: false });
    expect(line).toMatchObject({ server: { name: "Valkey", version: expect.any(String) }, redis: null });
    expect(line.variants.map(({ name }) => name)).toEqual(["none", "mutex", "fenced", "script"]);
    for (const {
      name,
      sold,
      oversold,
      errors,
      unheardSales,
      requestsPerSecond,
      latencyMs,
    } of line.variants) {
      if (name === "none") expect(sold).toBeGreaterThan(200);
      else expect({ name, sold }).toEqual({ name, sold: 200 });
      expect({ name, oversold, errors, unheardSales }).toEqual({
        name,
        oversold: sold - 200,
        errors: 0,
        unheardSales: 0,
      });
      expect(requestsPerSecond).toBeGreaterThan(0);
      expect(latencyMs.p50).toBeGreaterThan(0);
      expect(latencyMs.p99).toBeGreaterThanOrEqual(latencyMs.p50);
      expect(latencyMs.max).toBeGreaterThanOrEqual(latencyMs.p99);
    }
    expect(await program.leftBehind()).toEqual([]);
  });

  test("never oversells when a server is killed while it holds the lock", async () => {
    const program = new Program(["--kill", "--json", "--ttl", "600", "--variants", "mutex,fenced", ...SMALL]);
    const ended = await program.ended();
    expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
    for (const { name, sold, oversold, lost, errors, killedPids, latencyMs } of lastLine(ended).variants) {
      expect({ name, oversold, killed: killedPids.length }).toEqual({ name, oversold: 0, killed: 1 });
      expect(sold + lost).toBe(40);
      expect(errors).toBeGreaterThan(0); // The buyer whose server died.
      expect(latencyMs.max).toBeGreaterThan(500); // Whoever waited for the dead holder's lease to end.
    }
    expect(await program.leftBehind()).toEqual([]);
  });

  test("leaves the Redis it was given as it found it", async () => {
    const valkey = await EmbeddedValkey.start();
    onTestFinished(() => valkey.stop());
    const redis = new Redis(valkey.url);
    onTestFinished(() => redis.disconnect());
    await redis.set("someone:else", "1");
    const ended = await run(["--json", "--redis", valkey.url, "--variants", "mutex,fenced,script", ...SMALL]);
    expect(ended.exitCode).toBe(0);
    expect(lastLine(ended).variants.map(({ sold }) => sold)).toEqual([40, 40, 40]);
    expect(await redis.keys("*")).toEqual(["someone:else"]);
  });
});

describe("what is shown", () => {
  test("a table on the terminal and a report that needs nothing but itself", async () => {
    const file = join(scratchFolder(), "sale.html");
    const sale = ["--stock", "20", "--requests", "160", "--servers", "2", "--report", file];
    const { exitCode, stdout, stderr } = await run(sale);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    for (const title of ["no lock", "mutex", "fenced mutex", "atomic script"]) {
      expect(stdout).toMatch(new RegExp(`^ ${title} +\\d`, "m"));
    }
    expect(stdout).not.toContain("reference"); // Of a sale of another size.
    expect(Math.max(...stdout.split("\n").map((row) => row.length))).toBeLessThanOrEqual(
      Math.max(80, file.length + 8),
    );
    expect(stdout).toContain(`Report: ${file}`);
    const page = readFileSync(file, "utf8");
    expect(page.match(/<svg/g)).toHaveLength(8); // Four pictures, each for wide and narrow screens.
    expect(page).not.toMatch(/<script|<link|<img|@import|url\(|\bsrc=/);
    // The namespace of SVG is a name, not an address to load from.
    expect(page.replaceAll(/http:\/\/www\.w3\.org\/[\w/]+/g, "")).not.toMatch(/https?:/);
    expect(page).not.toMatch(/NaN|undefined|Infinity/);
  });

  test("the store stays open with --serve until Ctrl-C", async () => {
    const sale = ["--serve", "--stock", "20", "--requests", "160", "--servers", "2", "--variants", "script"];
    const program = new Program([...sale, "--no-report"]);
    const [, url = ""] = await program.printed(/open at (\S+)/);
    const answers = await Promise.all(
      [1, 2, 3].map(async () => (await fetch(url)).json() as Promise<{ left: number }>),
    );
    expect(answers.map(({ left }) => left).sort()).toEqual([17, 18, 19]);
    expect(answers[0]).toEqual({
      host: expect.any(String),
      pid: expect.any(Number),
      sold: true,
      left: expect.any(Number),
    });
    expect((await fetch(url, { method: "POST" })).status).toBe(404);
    program.signalAll("SIGINT");
    expect((await program.ended()).exitCode).toBe(130);
    expect(await program.leftBehind()).toEqual([]);
  });
});
