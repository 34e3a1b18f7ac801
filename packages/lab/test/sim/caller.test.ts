/** What a caller of a workload writes down of the calls that fail. */
import { IndeterminateError, InvalidArgumentError, ServerError, UnavailableError } from "holdfast";
import { expect, it } from "vitest";
import { holdfastOn } from "../../src/sim/holdfast-on.js";
import { Caller } from "../../src/sim/swarm/caller.js";
import type { ProcessPlan } from "../../src/sim/swarm/plan.js";
import { planOf } from "../../src/sim/swarm/run.js";
import { Scene } from "../../src/sim/swarm/scene.js";
import { World } from "../../src/sim/world.js";

it("takes a call for doubtful whose refusal may be about its second copy, and for failed only where nothing was sent", async () => {
  const plan = planOf(1, "limit");
  const world = await World.create({ seed: 1 });
  const scene = new Scene(world, plan);
  const process = world.process("p1");
  const types: string[] = [];
  process.run(async () => {
    const parts = { scene, process, plan: plan.processes[0] as ProcessPlan };
    const caller = new Caller("p1.1", { ...parts, library: holdfastOn(scene.link(process)) });
    const refused = new ServerError("MISCONF the server cannot save its data.");
    for (const error of [
      refused,
      new IndeterminateError("no answer"),
      new InvalidArgumentError("ttl", "is 0"),
      new UnavailableError("the client is not connected"),
    ])
      types.push((await caller.attempt("call", "key", () => Promise.reject(error))).type);
  });
  await world.run(100);
  expect(types).toEqual(["info", "info", "fail", "fail"]);
  // No server refuses without a reason, and no program of a workload may give a wrong argument: what it meant to do would never happen.
  expect(scene.failures.map(({ property, message }) => `${property}: ${message}`)).toEqual([
    expect.stringMatching(/^error: call of "key" by p1.1, and nothing in the plan explains it: .*MISCONF/),
    'error: call of "key" by p1.1: ttl is 0',
  ]);
});
