/**
 * What most programs do to have one leader: SET NX PX, again and again, and PEXPIRE while they lead. It has no term, and the leader
 * does not learn that it leads no more.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "./client.js";
import type { Contestant } from "./contestant.js";

/** Short, so that the end of a term is met often. */
export const TERM_MS = 2_000;
/** How often a candidate asks, and a leader renews. */
const EVERY_MS = TERM_MS / 3;

const RENEW = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end return 0`;
const RESIGN = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`;

interface Held {
  readonly name: string;
  readonly value: string;
  readonly timer: NodeJS.Timeout;
}

export async function open(port: number): Promise<Contestant<Held>> {
  const client = await connect(port);
  const [renew, resign] = (await Promise.all([RENEW, RESIGN].map((text) => client.script("LOAD", text)))) as [
    string,
    string,
  ];
  return {
    async acquire(name) {
      const value = randomUUID();
      while ((await client.set(name, value, "PX", TERM_MS, "NX")) !== "OK") await sleep(EVERY_MS);
      const timer = setInterval(() => client.evalsha(renew, 1, name, value, TERM_MS), EVERY_MS);
      return { name, value, timer };
    },
    async release({ name, value, timer }) {
      clearInterval(timer);
      await client.evalsha(resign, 1, name, value);
    },
    close: async () => client.disconnect(),
  };
}
