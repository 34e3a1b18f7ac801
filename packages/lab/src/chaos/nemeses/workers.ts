/** What happens to workers: they stand still, they die, their wall clock is set. */
import { pauseMs } from "../time.js";
import { always, type Nemesis } from "./nemesis.js";

export const workerPause: Nemesis = {
  kind: "worker-pause",
  victim: "worker",
  bites: "pause",
  weight: 3,
  whyNot: always,
  async strike({ slot, scene, dice }) {
    const forMs = dice.chance(0.6)
      ? dice.between(1.05, 2) * scene.ttlMs
      : dice.between(0.05, 1) * scene.ttlMs;
    const { worker } = slot;
    worker.freeze();
    try {
      await pauseMs(forMs);
    } finally {
      worker.thaw();
    }
    return `SIGSTOP for ${Math.round(forMs)} ms`;
  },
};

export const workerKill: Nemesis = {
  kind: "worker-kill",
  victim: "worker",
  whyNot: always,
  async strike({ slot }) {
    await slot.replace();
    return "SIGKILL, and another one";
  },
};

const STEPS_MS = [-3_600_000, -10_000, -500, 500, 10_000, 3_600_000];

export const workerClock: Nemesis = {
  kind: "worker-clock",
  victim: "worker",
  whyNot: ({ slots }) => (slots.some(({ clock }) => clock) ? null : "no clock shim"),
  async strike({ slot, dice }) {
    const stepMs = dice.pick(STEPS_MS);
    slot.clock?.set(slot.clock.offsetMs + stepMs);
    await pauseMs(dice.between(0, 500));
    return `wall clock ${signed(stepMs)} ms`;
  },
};

function signed(number: number): string {
  return number < 0 ? String(number) : `+${number}`;
}
