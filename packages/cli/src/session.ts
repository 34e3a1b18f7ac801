/** A Holdfast on the server that the user named, for the time of one command. */
import { basename } from "node:path";
import { Holdfast } from "holdfast";
import { EXIT } from "./exit-codes.js";
import { Failure } from "./failure.js";
import { interruptible } from "./interrupt.js";
import { type Connections, newLink } from "./link.js";
import type { Settings } from "./settings.js";

export interface Session extends Connections {
  readonly hf: Holdfast;
  /** Settles at once when the server is away, else within a time limit or two of a call. */
  close(): Promise<void>;
}

/**
 * Sends nothing before `connect`: what was typed wrong is said first.
 * @throws {Failure} with exit code 64 when the user named several servers
 */
export function newSession(settings: Settings, label = ""): Session {
  const [url = "", ...others] = settings.redisUrls;
  if (others.length > 0) {
    const told = "this works on one server: give one --redis; several are a Redlock, which has locks alone";
    throw new Failure("USAGE", EXIT.usage, told);
  }
  return sessionAt(url, settings, label);
}

/** A session on one of the servers that the user named. */
export function sessionAt(url: string, settings: Settings, label = ""): Session {
  const { prefix, timeoutMs } = settings;
  const { redis, ...link } = newLink(url, { timeoutMs, persists: false });
  // A command may run for hours: it is stopped at once when somebody takes its lock away.
  const hf = new Holdfast(redis, { prefix, label, callTimeout: timeoutMs, listenAfter: 0 });
  return {
    ...link,
    hf,
    async close() {
      // A request that is sent now would wait for a connection that nothing opens.
      if (redis.status !== "ready") link.giveUp();
      await hf.close();
      link.giveUp();
    },
  };
}

const LONGEST_LABEL = 200;

/**
 * The label of a process that runs a command, unless the user gave one. A file's name may be longer than a label, so it is cut,
 * between two characters.
 */
export function labelOf(program: string): string {
  return basename(program)
    .slice(0, LONGEST_LABEL)
    .replace(/[\ud800-\udbff]$/, "");
}

/** Connects, does the work, and closes, also when the user interrupts it. */
export async function withSession(
  settings: Settings,
  work: (session: Session, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const session = newSession(settings);
  try {
    return await interruptible(async (signal) => {
      await session.connect(signal);
      return work(session, signal);
    });
  } finally {
    await session.close();
  }
}
