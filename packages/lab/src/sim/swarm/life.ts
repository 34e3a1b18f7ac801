/** A life of a process of the plan: its Holdfast, its client and its callers. */
import type { Holdfast } from "holdfast";
import { SimClient } from "../sim-client.js";
import type { Beliefs } from "./beliefs.js";
import { Caller } from "./caller.js";
import type { ProcessPlan } from "./plan.js";
import type { Register } from "./register.js";
import { prefix, type Scene } from "./scene.js";

export interface Surroundings {
  readonly scene: Scene;
  readonly beliefs: Beliefs;
  readonly registers: ReadonlyMap<string, Register>;
  /** A library that was changed on purpose, for instance. */
  readonly holdfast: typeof Holdfast;
}

/** How long `close()` may take, in calls that get no answer. */
const closingCalls = 4;

export function beginLife({ scene, beliefs, registers, holdfast }: Surroundings, plan: ProcessPlan): void {
  let name = plan.name;
  for (let lives = 2; scene.world.processes.has(name); lives++) name = `${plan.name}#${lives}`;
  const process = scene.world.process(name);
  scene.lives.set(plan.name, { plan, process });
  process.run(async () => {
    const client = new SimClient(scene.link(process), plan.client);
    const { clock, random } = process;
    const hf = new holdfast(client, {
      clock,
      random,
      prefix,
      label: name,
      callTimeoutMs: plan.callTimeoutMs,
    });
    const parts = { scene, beliefs, registers, process, plan, hf };
    const callers = Array.from(
      { length: plan.callers },
      (_, place) => new Caller(`${name}.${place + 1}`, parts),
    );
    await Promise.all(callers.map((caller) => caller.work()));
    const sinceMs = process.monoMs;
    await hf.close();
    const tookMs = process.monoMs - sinceMs;
    if (tookMs > plan.callTimeoutMs * closingCalls) scene.fail("P3", `close() of ${name} took ${tookMs} ms`);
    client.disconnect();
    scene.finished.add(name);
  });
}
