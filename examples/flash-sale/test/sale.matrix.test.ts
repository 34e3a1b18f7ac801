/** The sale as a user sees it: what is sold, what is printed, what is written. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type Ended, Program, run, scratchFolder } from "./store-program.js";

const SMALL = ["--stock", "40", "--requests", "320", "--servers", "2"];
/** In the soak the sale has the size that `npm start` gives it. */
const isSoak = process.env["HOLDFAST_TEST_SOAK"] === "1";
const size = isSoak ? { stock: 200, requests: 1_600, servers: 4 } : { stock: 40, requests: 320, servers: 2 };

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
    const program = new Program(["--once", "--json", "--no-report", ...(isSoak ? [] : SMALL)]);
    const ended = await program.ended();
    expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
    const line = lastLine(ended);
    expect(Object.keys(line).slice(0, 4)).toEqual(["stock", "requests", "servers", "variants"]);
    expect(line).toMatchObject({ ...size, kill: false, nginx: false, redlock: false });
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
      if (name === "none") expect(sold).toBeGreaterThan(size.stock);
      else expect({ name, sold }).toEqual({ name, sold: size.stock });
      expect({ name, oversold, errors, unheardSales }).toEqual({
        name,
        oversold: sold - size.stock,
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

  test("sells the stock exactly under Redlock, whose lock is on servers of its own", async () => {
    // npm redlock has no fence: its lease must outlast a machine that stands still. A vote that it loses costs a wait of this length.
    const sale = ["--redlock", "--json", "--no-report", "--ttl", "5000", ...(isSoak ? [] : SMALL)];
    const program = new Program(sale);
    const ended = await program.ended();
    expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
    const line = lastLine(ended);
    expect(line).toMatchObject({ ...size, redlock: true, redis: null });
    expect(line.variants.map(({ name }) => name)).toEqual(["none", "redlock", "npm-redlock"]);
    const [none, redlock] = line.variants;
    expect(none?.sold).toBeGreaterThan(size.stock);
    expect(redlock).toMatchObject({ sold: size.stock, oversold: 0, lost: 0, errors: 0, unheardSales: 0 });
    expect(await program.leftBehind()).toEqual([]);
  }, 120_000);

  test("never oversells when a server is killed while it holds the lock", async () => {
    const program = new Program([
      "--kill",
      "--json",
      "--ttl",
      "600",
      "--variants",
      "mutex,fenced",
      "--no-report",
      ...SMALL,
    ]);
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
});

describe("what is shown", () => {
  test("a table on the terminal and a report that needs nothing but itself; Redis is left as it was found", async () => {
    const valkey = await EmbeddedValkey.start();
    onTestFinished(() => valkey.stop());
    const redis = new Redis(valkey.url);
    onTestFinished(() => redis.disconnect());
    await redis.set("someone:else", "1");
    const file = join(scratchFolder(), "sale.html");
    const { exitCode, stdout, stderr } = await run([...SMALL, "--redis", valkey.url, "--report", file]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(await redis.keys("*")).toEqual(["someone:else"]);
    for (const title of ["no lock", "mutex", "fenced mutex", "atomic script"]) {
      expect(stdout).toMatch(new RegExp(`^ ${title} +\\d`, "m"));
    }
    expect(stdout).not.toContain("reference"); // Of a sale of another size.
    const [head = "", , ...notes] = stdout.split("\n\n"); // The table is as wide as what is in it.
    expect(
      Math.max(
        ...[head, ...notes]
          .join("\n")
          .split("\n")
          .map((row) => row.length),
      ),
    ).toBeLessThanOrEqual(Math.max(80, file.length + 8));
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
