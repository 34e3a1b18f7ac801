/**
 * Thirty clients, a thousand calls each, five limits, a real server: no window admits more than its type says. They are
 * no processes, which would cost more to start than to run, but Holdfasts with connections of their own in three
 * threads: a limit cannot tell, because two Holdfasts share nothing but code.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { ServerProcess } from "@holdfast/conformance";
import { type AdmissionOptions, checkAdmissions, type Operation } from "@holdfast/lab";
import type { LimitOptions } from "holdfast";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const { HOLDFAST_REDIS_SERVER: program = "" } = process.env;
const CLIENTS = 30;
const THREADS = 3;
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
  const workerData = { url, limits: kinds, clients: CLIENTS / THREADS, calls: CALLS, atOnce: 4 };
  const workers = Array.from({ length: THREADS }, () => {
    return new Worker(new URL("./visitor.mjs", import.meta.url), { workerData, execArgv: [] });
  });
  await Promise.all(workers.map((worker) => once(worker, "message")));
  const done = workers.map((worker) => once(worker, "message") as Promise<[number[][][]]>);
  for (const worker of workers) worker.postMessage("go");
  const told = (await Promise.all(done)).flatMap(([clients]) => clients);
  return told.flatMap((taken, place) =>
    taken.flatMap((flat, limit) => operationsOf(`c${place}`, limits[limit]?.name ?? "", flat)),
  );
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

describe.skipIf(program === "")("thirty clients on a real server", () => {
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
  }, 60_000);
});
