/**
 * Holdfast loads some of its parts when they are first needed. In a world no file is ever read, so all of them are
 * loaded before: by a world of its own in which they are needed, and which lets the real time pass in between.
 */
import { Holdfast } from "holdfast";
import type { Process } from "./process.js";
import { SimClient } from "./sim-client.js";
import { realMillisecond } from "./time/turn.js";
import { World } from "./world.js";

const stepMs = 1;
const mostSteps = 20_000;

let warm: Promise<void> | null = null;

/** Call it once before the first world in which a Holdfast runs. */
export function warmUp(): Promise<void> {
  warm ??= run();
  return warm;
}

/** What holdfast takes for node-redis: it loads the code for it. */
const shape = {
  isOpen: true,
  duplicate: () => shape,
  on: () => {},
  off: () => {},
  evalSha: () => {},
  sendCommand: () => Promise.reject(new Error("there is no server")),
};

async function loadNodeRedis(): Promise<void> {
  const hf = new Holdfast(shape);
  await hf
    .mutex("warm")
    .tryAcquire()
    .catch(() => {});
  await hf.close();
}

async function run(): Promise<void> {
  await loadNodeRedis();
  const world = await World.create({ seed: 1 });
  const node = world.node("warm");
  let done = 0;
  const start = (name: string, work: (hf: Holdfast, process: Process) => Promise<unknown>): void => {
    const process = world.process(name);
    process.run(async () => {
      const { clock, random } = process;
      const hf = new Holdfast(new SimClient(world.link(process, node)), {
        clock,
        random,
        callTimeoutMs: 600_000,
      });
      await work(hf, process);
      await hf.close();
      done += 1;
    });
  };
  const section = async (hf: Holdfast): Promise<void> => {
    const lease = await hf.mutex("warm").acquire({ waitMs: Number.POSITIVE_INFINITY });
    await realMillisecond();
    await lease.release();
  };
  start("a", section);
  start("b", section);
  start("c", async (hf) => {
    const lease = await hf.mutex("other").acquire();
    const record = hf.fencedRecord("warm");
    await record.enter(lease);
    await record.write(lease, "1");
    await hf.fencedRecord("no hash").read();
    await lease.release();
  });
  start("d", async (hf, process) => {
    node.peek("SET", "holdfast:{foreign}:lock", "something else");
    await hf
      .mutex("foreign")
      .acquire()
      .catch(() => {});
    await new Promise<void>((resolve) => void process.after(1, resolve));
    await (await hf.inspector()).locks().next();
  });
  for (let step = 1; done < 4; step++) {
    if (step > mostSteps)
      throw new Error("a part of holdfast did not load", { cause: world.errors[0]?.error });
    await world.run(step * stepMs);
    await realMillisecond();
  }
}
