/** The number of files of the library that run in one call. A reader must know them to know what the call does. */
import { Session } from "node:inspector/promises";
import { EmbeddedValkey } from "@holdfast/embedded";
import { type Delivery, Holdfast, type Lease } from "holdfast";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";

const SOURCE = /\/packages\/holdfast\/src\/(.+)\.ts$/;
/** The first calls load what is loaded on first use. A timer in the background may add a file to any of them. */
const CALLS = 10;

let server: EmbeddedValkey;
let client: Redis;
let hf: Holdfast;
const inspector = new Session();

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  client = new Redis(server.url);
  hf = new Holdfast(client);
  inspector.connect();
  await inspector.post("Profiler.enable");
  await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
});

afterAll(async () => {
  inspector.disconnect();
  await hf.close();
  client.disconnect();
  await server.stop();
});

/** The files of which a function ran since the last look. */
async function ran(): Promise<string[]> {
  const { result } = await inspector.post("Profiler.takePreciseCoverage");
  const files = result.flatMap(({ url, functions }) => {
    const file = functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)) && SOURCE.exec(url);
    return file ? [file[1] ?? ""] : [];
  });
  return files.filter((file) => !file.endsWith(".lua")).toSorted();
}

/** The files of the call in which the fewest ran. */
async function filesOf<Value>(
  call: () => Promise<Value>,
  after: (value: Value) => Promise<unknown>,
): Promise<string[]> {
  let fewest: string[] | null = null;
  for (let calls = 0; calls < CALLS; calls += 1) {
    await ran();
    const value = await call();
    const files = await ran();
    await after(value);
    if (fewest === null || files.length < fewest.length) fewest = files;
  }
  return fewest ?? [];
}

test("a free acquire", async () => {
  const mutex = hf.mutex("name");
  const files = await filesOf(
    () => mutex.acquire(),
    (lease: Lease) => lease.release(),
  );
  expect(files.length, files.join("\n")).toBeLessThanOrEqual(26);
});

test("a receive of a message that is there", async () => {
  const queue = hf.queue("name");
  for (let pushes = 0; pushes < CALLS; pushes += 1) await queue.push(pushes);
  const files = await filesOf(
    () => queue.receive(),
    async (delivery: Delivery | null) => delivery?.ack(),
  );
  expect(files.length, files.join("\n")).toBeLessThanOrEqual(33);
});
