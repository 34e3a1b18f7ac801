/** A life of a process of the plan: its Holdfast, its client and its callers. */
import type { Holdfast } from "holdfast";
import type { Process } from "../process.js";
import type { OpenClient, OpenReal } from "../real-clients.js";
import { SimClient } from "../sim-client.js";
import type { Beliefs } from "./beliefs.js";
import { Caller } from "./caller.js";
import type { ProcessPlan } from "./plan.js";
import type { Register } from "./register.js";
import { ownerAt, prefix, type Scene } from "./scene.js";

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
/** What a program does in its last moment. */
const leavingMs = 5;
/** Its own timers have run out. */
const goneMs = 1_500;

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
      callTimeout: plan.callTimeoutMs,
    });
    const parts = { scene, beliefs, registers, process, plan, hf };
    const callers = Array.from(
      { length: plan.callers },
      (_, place) => new Caller(`${name}.${place + 1}`, parts),
    );
    const works = Promise.all(callers.map((caller) => caller.work()));
    const closesEarly = name === plan.name && plan.closesAtMs !== null;
    if (closesEarly) await Promise.race([works, process.sleep(plan.closesAtMs as number)]);
    else await works;
    for (const caller of callers) caller.isClosing = true;
    const [sinceMs, heldUpMs] = [process.monoMs, process.heldUpMs];
    await hf.close();
    const tookMs = process.monoMs - sinceMs - (process.heldUpMs - heldUpMs);
    if (tookMs > plan.callTimeoutMs * closingCalls) scene.fail("P3", `close() of ${name} took ${tookMs} ms`);
    if (closesEarly) judgeClosed(surroundings, process, callers);
    await works;
    close();
    scene.finished.add(name);
    if (closesEarly && !scene.isEnding) leave(scene, plan, process);
  });
}

/** P1, L8, L9: whoever has closed waits for nothing and holds nothing. */
function judgeClosed({ scene, beliefs }: Surroundings, process: Process, callers: readonly Caller[]): void {
  for (const caller of callers)
    if (caller.isAsking) scene.fail("P1", `close() is over, and ${caller.name} still waits for a lock`);
  for (const lock of scene.plan.locks) {
    for (const { caller, lease } of beliefs.of(process, lock))
      if (lease.valid)
        scene.fail("L8", `close() is over, and ${caller} has a lease of "${lock}" that is valid`);
    if (
      scene.calmFromMs <= scene.world.nowMs &&
      process.isAwake &&
      ownerAt(scene.node, lock) === process.name
    )
      scene.fail("L9", `close() is over, and ${process.name} still holds "${lock}" at the node`);
  }
}

/** The next life begins, and nothing is left of this one. */
function leave(scene: Scene, plan: ProcessPlan, process: Process): void {
  const { world } = scene;
  world.at(world.nowMs + leavingMs, () => {
    // Killed meanwhile: whoever did that begins the next life.
    if (process.state !== "dead" && !scene.isEnding) scene.spawn(plan);
  });
  world.at(world.nowMs + goneMs, () => {
    const { name, timerCount, wires } = process;
    if (process.isAwake && (timerCount > 0 || wires.size > 0))
      scene.fail("P2", `${name} has closed, and has ${timerCount} timers and ${wires.size} connections`);
  });
}
