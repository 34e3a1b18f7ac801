/** What happens to the server without loss of what it knows. */
import { pauseMs } from "../time.js";
import { always, type Nemesis, needsProcess } from "./nemesis.js";

export const serverPause: Nemesis = {
  kind: "server-pause",
  victim: "server",
  whyNot: needsProcess,
  async strike({ scene, dice }) {
    const forMs = dice.between(0.1, 1.8) * scene.ttlMs;
    scene.server.process?.freeze();
    try {
      await pauseMs(forMs);
    } finally {
      scene.server.process?.thaw();
    }
    return `SIGSTOP for ${Math.round(forMs)} ms`;
  },
};

export const serverRestart: Nemesis = {
  kind: "server-restart",
  victim: "server",
  whyNot: needsProcess,
  async strike({ scene, dice }) {
    await scene.server.process?.kill();
    const downMs = dice.between(0, scene.ttlMs);
    await pauseMs(downMs);
    await scene.server.process?.launch();
    return `SIGKILL, back after ${Math.round(downMs)} ms with all it knew`;
  },
};

export const clientKill: Nemesis = {
  kind: "client-kill",
  victim: "server",
  weight: 2,
  whyNot: always,
  async strike({ scene, dice }) {
    const type = dice.pick(["normal", "pubsub"]);
    const killed = await scene.server.command("CLIENT", "KILL", "TYPE", type, "SKIPME", "yes");
    return `CLIENT KILL TYPE ${type}: ${killed}`;
  },
};

export const clientPause: Nemesis = {
  kind: "client-pause",
  victim: "server",
  whyNot: always,
  async strike({ scene, dice }) {
    const forMs = Math.round(dice.between(0.1, 1.5) * scene.ttlMs);
    const what = dice.pick(["ALL", "WRITE"]);
    await scene.server.command("CLIENT", "PAUSE", forMs, what);
    await pauseMs(forMs);
    return `CLIENT PAUSE ${forMs} ${what}`;
  },
};

/** Some seconds, so that nothing hangs for good. */
const ENDLESS = "for i = 1, 1e9 do end";

/** Another program's script that does not end: everybody is answered BUSY until somebody kills it. */
export const busyScript: Nemesis = {
  kind: "busy-script",
  victim: "server",
  whyNot: ({ server }) => (server.process ? null : "the embedded engine cannot be asked while a script runs"),
  async strike({ scene, dice }) {
    const forMs = dice.between(100, 1.2 * scene.ttlMs);
    let ended = false;
    const busy = scene.server
      .command("EVAL", ENDLESS, 0)
      .catch(() => {}) // killed, as meant
      .finally(() => {
        ended = true;
      });
    await pauseMs(forMs);
    while (!ended) {
      await scene.server.killScript();
      await pauseMs(20);
    }
    await busy;
    return `a script for ${Math.round(forMs)} ms`;
  },
};

export const outOfMemory: Nemesis = {
  kind: "out-of-memory",
  victim: "server",
  whyNot: always,
  async strike({ scene, dice }) {
    const forMs = dice.between(50, scene.ttlMs);
    await scene.server.command("CONFIG", "SET", "maxmemory", 1);
    try {
      await pauseMs(forMs);
    } finally {
      await scene.server.command("CONFIG", "SET", "maxmemory", 0);
    }
    return `maxmemory with noeviction for ${Math.round(forMs)} ms`;
  },
};

export const scriptFlush: Nemesis = {
  kind: "script-flush",
  victim: "server",
  whyNot: always,
  async strike({ scene }) {
    await scene.server.command("SCRIPT", "FLUSH");
    return "SCRIPT FLUSH";
  },
};
