/** What happens to programs and their machines. */
import type { Fault } from "../plan.js";
import type { Life, Scene } from "../scene.js";
import { type Kind, lasting, lifeOf, momentary, noValue } from "./kind.js";

function pause(kind: string, how: "stop" | "suspend"): Kind {
  return {
    kind,
    on: "process",
    most: 3,
    forMs: lasting(20, 5_000),
    value: noValue,
    begin(scene, fault) {
      const life = lifeOf(scene, fault);
      life?.process.pause(how);
      return () => life?.process.resume();
    },
  };
}

function death(kind: string, how: "crash" | "vanish"): Kind {
  return {
    kind,
    on: "process",
    most: 2,
    forMs: lasting(10, 3_000),
    value: noValue,
    begin(scene, fault) {
      const life = lifeOf(scene, fault);
      return life && die(scene, life, how);
    },
  };
}

/** Returns how the next life of it begins. */
export function die(scene: Scene, { process, plan }: Life, how: "crash" | "vanish"): () => void {
  process.kill(how);
  scene.deathsMs.set(process.name, scene.world.nowMs);
  return () => {
    // At the latest the network tells the node now.
    for (const wire of [...process.wires]) wire.close();
    scene.spawn(plan);
  };
}

const stall: Kind = {
  kind: "stall",
  on: "process",
  most: 5,
  forMs: momentary,
  value: (dice) => dice.whole(5, 4_000),
  begin(scene, fault) {
    const reads = 1 + ((fault.value * 7) % 23);
    lifeOf(scene, fault)?.process.stallAtRead(reads, fault.value);
    return undefined;
  },
};

const wallStep: Kind = {
  kind: "wall clock of a process",
  on: "process",
  most: 2,
  forMs: momentary,
  value: (dice) => dice.pick([-3_600_000, -10_000, -500, 500, 10_000, 3_600_000]),
  begin(scene, fault) {
    // Suspended and set back, a machine knows by none of its clocks how long that took.
    const suspension = fault.value < 0 ? suspensionOf(scene, fault.target) : undefined;
    if (suspension) {
      const { atMs, forMs } = suspension;
      const lastsMs = Math.max(0, atMs + forMs - scene.world.nowMs);
      scene.excuseOverlap({ of: fault.target }, { forMs: lastsMs, fromMs: atMs });
    }
    lifeOf(scene, fault)?.process.stepWall(fault.value);
    return undefined;
  },
};

function suspensionOf(scene: Scene, name: string): Fault | undefined {
  const { nowMs } = scene.world;
  return scene.plan.faults.find(
    ({ kind, target, atMs, forMs }) =>
      kind === "suspension" &&
      target === name &&
      atMs - scene.longestTtlMs <= nowMs &&
      nowMs <= atMs + forMs + scene.longestTtlMs,
  );
}

const rate: Kind = {
  kind: "rate of a process",
  on: "process",
  most: 1,
  forMs: lasting(500, 6_000),
  value: (dice) => dice.pick([0.5, 0.9, 0.995, 1.005, 1.2, 2]),
  begin(scene, fault) {
    const life = lifeOf(scene, fault);
    if (!life) return undefined;
    // The allowance for drift is one in a hundred.
    if (fault.value < 0.991) scene.excuseOverlap({ of: fault.target }, { forMs: fault.forMs });
    life.process.rate = fault.value;
    return () => {
      life.process.rate = 1;
    };
  },
};

/** One message ends each process that deals with it: the first one that any deals with in this time. The workload does that. */
export const poison: Kind = {
  kind: "poison",
  on: "process",
  most: 1,
  strikesLater: true,
  forMs: momentary,
  value: noValue,
  begin: () => undefined,
};

export const processKinds: readonly Kind[] = [
  pause("pause", "stop"),
  pause("suspension", "suspend"),
  stall,
  death("kill", "crash"),
  death("loss of power", "vanish"),
  wallStep,
  rate,
];
