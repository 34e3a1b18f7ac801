/** A life of a process of the plan: its Holdfast, its client and its callers. */
import type { Holdfast } from "holdfast";
import type { Process } from "../process.js";
import type { OpenClient, OpenReal } from "../real-clients.js";
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
  /** Real client libraries, one of which each process draws; none: a client of the lab's own. */
  readonly libraries: ReadonlyMap<string, OpenReal>;
}

function open({ scene, libraries }: Surroundings, process: Process, plan: ProcessPlan): OpenClient {
  if (libraries.size > 0) {
    const [, openReal] = scene.world.dice(`library of ${plan.name}`).pick([...libraries]);
    return openReal(scene.node.name, plan.client);
  }
  const client = new SimClient(scene.link(process), plan.client);
  return { client, close: () => client.disconnect() };
}

/** How long `close()` may take, in calls that get no answer. */
const closingCalls = 4;

export function beginLife(surroundings: Surroundings, plan: ProcessPlan): void {
  const { scene, beliefs, registers, holdfast } = surroundings;
  let name = plan.name;
  for (let lives = 2; scene.world.processes.has(name); lives++) name = `${plan.name}#${lives}`;
  const process = scene.world.process(name);
  scene.lives.set(plan.name, { plan, process });
  process.run(async () => {
    const { client, close } = open(surroundings, process, plan);
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
    const [sinceMs, heldUpMs] = [process.monoMs, process.heldUpMs];
    await hf.close();
    const tookMs = process.monoMs - sinceMs - (process.heldUpMs - heldUpMs);
    if (tookMs > plan.callTimeoutMs * closingCalls) scene.fail("P3", `close() of ${name} took ${tookMs} ms`);
    close();
    scene.finished.add(name);
  });
}
