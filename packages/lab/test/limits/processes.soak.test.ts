/** Many processes, a thousand calls each, five limits, a real server: no window admits more than its type says. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { launchModule, needing, program as programOf, ServerProcess } from "@holdfast/conformance";
import type { LimitOptions } from "holdfast";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AdmissionOptions, checkAdmissions } from "../../src/history/admissions.js";
import type { Operation } from "../../src/history/operation.js";

const program = programOf("redis-server");
const PROCESSES = process.env.HOLDFAST_TEST_SOAK ? 30 : 6;
const CALLS = 1_000;
const PER_MS = 400;

interface Kind {
  readonly name: string;
  readonly options: LimitOptions;
  readonly bound: AdmissionOptions;
}

const per = PER_MS;
const limits: readonly Kind[] = [
  { name: "rolling", options: { max: 100, per, block: 10 }, bound: { most: 199, perMs: per } },
  { name: "gcra", options: { type: "gcra", max: 100, burst: 20, per }, bound: { most: 120, perMs: per } },
  { name: "window", options: { type: "window", max: 100, per, block: 10 }, bound: { most: 200, perMs: per } },
  { name: "sliding", options: { type: "sliding", max: 100, per }, bound: { most: 100, perMs: per } },
  {
    name: "lifetime",
    options: { type: "lifetime", max: 1_000, block: 5 },
    bound: { most: 1_000, perMs: Infinity },
  },
];

let server: ServerProcess;

beforeAll(async () => {
  if (program !== "") server = await ServerProcess.start({ program });
});

afterAll(() => server?.stop());

async function visitors(): Promise<Operation[]> {
  const url = `redis://${server.host}:${server.port}`;
  const kinds = limits.map(({ name, options }) => ({ name, options }));
  const visitor = resolve(import.meta.dirname, "visitor.mjs");
  const processes = Array.from({ length: PROCESSES }, (_, place) => {
    const task = { url, limits: kinds, isPlain: place % 2 === 1, calls: CALLS, atOnce: 4 };
    return launchModule(visitor, [JSON.stringify(task)], { execArgv: [] });
  });
  try {
    await Promise.all(processes.map(said));
    const done = processes.map(said);
    for (const each of processes) each.send("go");
    return (await Promise.all(done)).flatMap((taken, place) =>
      (taken as number[][]).flatMap((flat, limit) =>
        operationsOf(`p${place}`, limits[limit]?.name ?? "", flat),
      ),
    );
  } finally {
    for (const each of processes) each.kill("SIGKILL");
  }
}

/** The next message. @throws {Error} it ended */
async function said(process: ChildProcess): Promise<unknown> {
  const controller = new AbortController();
  const { signal } = controller;
  const ended = once(process, "exit", { signal }).then(([code]) => {
    throw new Error(`a visitor ended with code ${code}`);
  });
  try {
    return await Promise.race([once(process, "message", { signal }).then(([message]) => message), ended]);
  } finally {
    controller.abort();
  }
}

/** Beginning, return and cost of each. */
function operationsOf(process: string, key: string, flat: readonly number[]): Operation[] {
  const operations: Operation[] = [];
  for (let at = 0; at < flat.length; at += 3) {
    const [invMs = 0, retMs = 0, value] = flat.slice(at, at + 3);
    operations.push({ process, seq: at / 3, f: "take", key, invMs, retMs, type: "ok", value });
  }
  return operations;
}

needing(describe, "redis-server")(`${PROCESSES} processes on a real server`, () => {
  it("never go over", async () => {
    const operations = await visitors();
    const optionsOf = (key: string) => limits.find(({ name }) => name === key)?.bound ?? null;
    expect(checkAdmissions(operations, optionsOf).map(({ message }) => message)).toEqual([]);
    for (const { name, options } of limits) {
      const admitted = operations
        .filter(({ key }) => key === name)
        .reduce((sum, { value }) => sum + Number(value), 0);
      expect(admitted, name).toBeGreaterThanOrEqual(options.burst ?? options.max * 0.9);
    }
  });
});
