/** What makes a server forget: all, the last of what it knew, or whatever it likes. */
import { pauseMs } from "../time.js";
import { always, type Nemesis, needsProcess } from "./nemesis.js";

export const flushAll: Nemesis = {
  kind: "flushall",
  victim: "server",
  bites: "loss",
  breaks: "memory",
  whyNot: always,
  async strike({ scene }) {
    await scene.server.command("FLUSHALL");
    return "FLUSHALL";
  },
};

export const serverAmnesia: Nemesis = {
  kind: "server-amnesia",
  victim: "server",
  bites: "loss",
  breaks: "memory",
  whyNot: always,
  async strike({ scene }) {
    await scene.server.restartEmpty();
    return "SIGKILL, back with nothing";
  },
};

/** A machine that loses power: what was not yet on the disk is gone. */
export const powerLoss: Nemesis = {
  kind: "power-loss",
  victim: "server",
  bites: "loss",
  breaks: "memory",
  whyNot: needsProcess,
  async strike({ scene: { server, ttlMs }, dice }) {
    if (!server.process) return "nothing";
    const syncedBytes = server.process.fileSize();
    const sinceMs = dice.between(0.1, 1) * ttlMs;
    await pauseMs(sinceMs);
    await server.process.kill();
    const lostBytes = server.process.fileSize() - syncedBytes;
    server.process.truncateFile(syncedBytes);
    await server.process.launch();
    return `the last ${Math.round(sinceMs)} ms, ${lostBytes} bytes of the append-only file, lost`;
  },
};

export const eviction: Nemesis = {
  kind: "eviction",
  victim: "server",
  bites: "loss",
  breaks: "memory",
  whyNot: always,
  async strike({ scene: { server }, dice }) {
    const forMs = dice.between(50, 500);
    await server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-random");
    await server.command("CONFIG", "SET", "maxmemory", 1);
    try {
      await pauseMs(forMs);
    } finally {
      await server.command("CONFIG", "SET", "maxmemory", 0);
      await server.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
    }
    return `maxmemory with allkeys-random for ${Math.round(forMs)} ms`;
  },
};

const STEPS_MS = [-60_000, -3_000, 3_000, 31_000, 3_600_000];

/** Set wrongly, and set right after a while. */
export const serverClock: Nemesis = {
  kind: "server-clock",
  victim: "server clock",
  bites: "clock",
  breaks: "time",
  weight: 2,
  whyNot: ({ server }) => (server.process?.clock ? null : "no clock shim"),
  async strike({ scene: { server, ttlMs }, dice }) {
    const clock = server.process?.clock;
    const stepMs = dice.pick(STEPS_MS);
    const forMs = dice.between(0.1, 2) * ttlMs;
    clock?.set(stepMs);
    await pauseMs(forMs);
    clock?.set(0);
    return `wall clock ${stepMs < 0 ? "" : "+"}${stepMs} ms for ${Math.round(forMs)} ms`;
  },
};
