/** Callers that wait for locks, each for a name of its own: what their signs of life cost, and what they occupy. */
import type { Lease } from "holdfast";
import {
  counted,
  inGroups,
  type Load,
  type Member,
  type Scale,
  type Step,
  shareOf,
  uncounted,
  warmLocks,
} from "../load.js";

const settleMs = 1_500;
/** The helper's leases need no renewal while the others are watched. */
const helperTtl = "12h";

export const waiting: Load = {
  id: "waiting",
  helpers: 1,
  phases: [counted("warm"), uncounted("hold"), counted("ask"), counted("keep"), uncounted("leave")],
  join: (member, scale) => (member.place < member.processes ? waiter(member, scale) : holder(member, scale)),
};

function holder(member: Member, { names }: Scale): Readonly<Record<string, Step>> {
  const { hf, processes } = member;
  const leases: Lease[] = [];
  return {
    warm: () => warmLocks(member),
    async hold() {
      for (let place = 0; place < processes; place += 1) {
        const own = shareOf(names, { place, processes });
        const name = (n: number) => nameOf(place, n);
        leases.push(...(await inGroups(own, (n) => hf.mutex(name(n), { ttl: helperTtl }).acquire())));
      }
      return 0;
    },
  };
}

function waiter(member: Member, { names, watchMs }: Scale): Readonly<Record<string, Step>> {
  const { hf, place, sleep } = member;
  const leaving = new AbortController();
  const waits: Promise<unknown>[] = [];
  let answered = 0;
  return {
    warm: () => warmLocks(member),
    async ask() {
      const own = shareOf(names, member);
      for (let n = 0; n < own; n += 1) {
        const wait = hf.mutex(nameOf(place, n)).acquire({ wait: "12h", signal: leaving.signal });
        const ended = (): void => {
          answered += 1;
        };
        waits.push(wait.then(ended, ended));
      }
      await sleep(settleMs);
      return own - answered;
    },
    async keep() {
      await sleep(watchMs);
      return waits.length - answered;
    },
    async leave() {
      leaving.abort();
      await Promise.all(waits);
      return 0;
    },
  };
}

function nameOf(place: number, n: number): string {
  return `waiting:${place}:${n}`;
}
