/** A life of a process of the plan: its Holdfast, its client and its callers. */
import type { Holdfast } from "holdfast";
import type { Redlock } from "holdfast/redlock";
import type { Process } from "../process.js";
import type { OpenClient, OpenReal } from "../real-clients.js";
import { SimClient } from "../sim-client.js";
import { Caller } from "./caller.js";
import type { ProcessPlan } from "./plan.js";
import { prefix, type Scene } from "./scene.js";
import type { Work } from "./workload.js";

export interface Surroundings {
  readonly scene: Scene;
  readonly work: Work;
  /** A library that was changed on purpose, for instance. */
  readonly holdfast: typeof Holdfast;
  readonly redlock: typeof Redlock;
  /** Real client libraries, one of which each process draws; none: a client of the lab's own. */
  readonly libraries: ReadonlyMap<string, OpenReal>;
}

/** A client for each node. */
function open({ scene, libraries }: Surroundings, process: Process, plan: ProcessPlan): OpenClient[] {
  if (libraries.size > 0) {
    const [, openReal] = scene.world.dice(`library of ${plan.name}`).pick([...libraries]);
    return scene.nodes.map(({ name }) => openReal(name, plan.client));
  }
  return scene.linksOf(process).map((link) => {
    const client = new SimClient(link, plan.client);
    return { client, close: () => client.disconnect() };
  });
}

/** How long `close()` may take, in calls that get no answer. */
const closingCalls = 4;
/** Timers are late by a part of a millisecond each. */
const closingSlackMs = 20;
/** What a program does in its last moment. */
const leavingMs = 5;
/** Its own timers have run out. */
const goneMs = 1_500;

interface Opened {
  readonly plan: ProcessPlan;
  readonly clients: readonly OpenClient[];
}

function begin(
  { scene, holdfast, redlock }: Surroundings,
  { clock, random, name: label }: Process,
  { plan, clients }: Opened,
): Holdfast | Redlock {
  const dice = scene.world.dice(`options of ${label}`);
  const listens = dice.chance(0.3) ? { listenAfter: dice.pick([0, 1_000]) } : {};
  const options = {
    clock,
    random,
    prefix: scene.plan.prefix ?? prefix,
    label,
    callTimeout: plan.callTimeoutMs,
    ...listens,
  };
  const [first, ...others] = clients.map(({ client }) => client);
  if (first && others.length === 0) return new holdfast(first, options);
  return new redlock(
    clients.map(({ client }) => client),
    { ...options, maxTtl: scene.maxTtlMs, quarantine: scene.maxTtlMs },
  );
}

export function beginLife(surroundings: Surroundings, plan: ProcessPlan): void {
  const { scene, work } = surroundings;
  let name = plan.name;
  for (let lives = 2; scene.world.processes.has(name); lives++) name = `${plan.name}#${lives}`;
  const process = scene.world.process(name);
  scene.lives.set(plan.name, { plan, process });
  process.run(async () => {
    const clients = open(surroundings, process, plan);
    const library = begin(surroundings, process, { plan, clients });
    if (scene.nodes.length === 1 && scene.world.nowMs === 0) scene.loading.push(library.inspector());
    const parts = { scene, process, plan, library };
    const callers = Array.from(
      { length: plan.callers },
      (_, place) => new Caller(`${name}.${place + 1}`, parts),
    );
    const works = Promise.all(callers.map((caller) => caller.work(work.join(caller))));
    const closesEarly = name === plan.name && plan.closesAtMs !== null;
    if (closesEarly) await Promise.race([works, process.sleep(plan.closesAtMs as number)]);
    else await works;
    for (const caller of callers) caller.isClosing = true;
    const [sinceMs, heldUpMs] = [process.monoMs, process.heldUpMs];
    await library.close();
    const tookMs = process.monoMs - sinceMs - (process.heldUpMs - heldUpMs);
    if (tookMs > plan.callTimeoutMs * closingCalls + closingSlackMs)
      scene.fail("P3", `close() of ${name} took ${tookMs} ms`);
    if (closesEarly) work.closed?.(name);
    await works;
    for (const { close } of clients) close();
    scene.finished.add(name);
    if (closesEarly && !scene.isEnding) leave(scene, plan, process);
  });
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
