/** A Redlock on the servers that the user named, for the time of one command. */
import { Redlock } from "holdfast/redlock";
import { EXIT } from "./exit-codes.js";
import { Failure } from "./failure.js";
import { type Connections, type Link, newLink } from "./link.js";
import type { Settings } from "./settings.js";
import { pause } from "./time.js";

/** For those that connect a little later than the majority. */
const PATIENCE_MS = 300;

export interface Quorum extends Connections {
  readonly redlock: Redlock;
  /** Settles within a few time limits of a call, also when servers are away. */
  close(): Promise<void>;
}

/** Sends nothing before `connect`: what was typed wrong is said first. A minority may be away, and may come back. */
export function newQuorum(settings: Settings, label = ""): Quorum {
  const { redisUrls, prefix, timeoutMs, maxTtlMs, quarantineMs } = settings;
  const links = redisUrls.map((url) => newLink(url, { timeoutMs, persists: true }));
  const clients = links.map(({ redis }) => redis);
  const options = { prefix, label, callTimeout: timeoutMs, maxTtl: maxTtlMs, quarantine: quarantineMs };
  const redlock = new Redlock(clients, { ...options, listenAfter: 0 });
  const away = (): Failure | null => {
    const failures = links.map((link) => link.away()).filter((failure) => failure !== null);
    return links.length - failures.length < quorumOf(links) ? noQuorum(links, failures) : null;
  };
  return {
    redlock,
    async connect(signal) {
      const failures: unknown[] = [];
      let connected = 0;
      let onMajority = (): void => {};
      const majority = new Promise<void>((resolve) => {
        onMajority = resolve;
      });
      const tries = links.map(async (link) => {
        try {
          await link.connect(signal);
          connected += 1;
          if (connected === quorumOf(links)) onMajority();
        } catch (error) {
          failures.push(error);
        }
      });
      // A server that hangs is not waited for.
      await Promise.race([Promise.all(tries), majority.then(() => pause(PATIENCE_MS, signal))]);
      signal.throwIfAborted();
      if (connected < quorumOf(links)) throw noQuorum(links, failures);
    },
    away,
    onBreak(listener) {
      const stops = links.map((link) =>
        link.onBreak(() => {
          if (away()) listener();
        }),
      );
      return () => {
        for (const stop of stops) stop();
      };
    },
    giveUp() {
      for (const link of links) link.giveUp();
    },
    async close() {
      for (const link of links) if (link.redis.status !== "ready") link.giveUp();
      await redlock.close();
      for (const link of links) link.giveUp();
    },
  };
}

function quorumOf(links: readonly Link[]): number {
  return Math.floor(links.length / 2) + 1;
}

function noQuorum(links: readonly Link[], failures: readonly unknown[]): Failure {
  const reasons = failures.map((failure) => (failure as Error).message).join("; ");
  const told = `${failures.length} of ${links.length} servers are away, and locks need ${quorumOf(links)}: ${reasons}`;
  return new Failure("NO_QUORUM", EXIT.unavailable, told);
}
