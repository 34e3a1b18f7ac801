/**
 * Loads that keep a server busy, for the time that it needs for one unit of work. A program that does one thing all
 * the time over few connections; a Holdfast each where separate processes are to be seen by the server.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Holdfast, Lease } from "holdfast";
import { counted, inGroups, type Load, type Member, type Scale, type Step, uncounted } from "../load.js";

/** In each process. */
const callers = 32;
const warmMs = 500;
const fewNames = 10_000;
const plenty = 1_000_000_000;

/** One turn of a caller, again and again. */
type Turn = (caller: number, turn: number) => Promise<unknown>;

function closedLoop(id: string, open: (member: Member) => Turn): Load {
  return {
    id,
    helpers: 0,
    phases: [uncounted("warm"), counted("loop")],
    join(member, { turnsMs }) {
      const turn = open(member);
      const during = async (ms: number) => {
        const endMs = member.nowMs() + ms;
        let done = 0;
        const work = async (caller: number) => {
          for (let n = 0; member.nowMs() < endMs; n += 1) {
            await turn(caller, n);
            done += 1;
          }
        };
        await Promise.all(Array.from({ length: callers }, (_, caller) => work(caller)));
        return done;
      };
      return { warm: () => during(warmMs), loop: () => during(turnsMs) };
    },
  };
}

const get = closedLoop(
  "get",
  ({ send }) =>
    () =>
      send("GET", "floor"),
);

const emptyScript = closedLoop("empty-script", ({ send }) => {
  const loaded = send("SCRIPT", "LOAD", "return 1") as Promise<string>;
  return async () => send("EVALSHA", await loaded, "0");
});

/** A Holdfast for each caller, as if each were in a process of its own: nothing shares a request. */
function apart({ another }: Member): readonly Holdfast[] {
  return Array.from({ length: callers }, another);
}

/** One Holdfast for all: calls of one moment share a request. */
function together({ hf }: Member): readonly Holdfast[] {
  return Array.from({ length: callers }, () => hf);
}

type Holdfasts = (member: Member) => readonly Holdfast[];

const cycling = (id: string, holdfasts: Holdfasts, nameOf: (place: number, caller: number) => string) =>
  closedLoop(id, (member) => {
    const mutexes = holdfasts(member).map((hf, caller) => hf.mutex(nameOf(member.place, caller)));
    return async (caller) => {
      const lease = await mutexes[caller]?.acquire({ wait: "1h" });
      await lease?.release();
    };
  });

const cycle = cycling("cycle", apart, (place, caller) => `cycle:${place}:${caller}`);
const cycleTogether = cycling("cycle-together", together, (place, caller) => `cycle:${place}:${caller}`);
/** One name. */
const crowd = cycling("crowd", apart, () => "crowd");

const checking = (id: string, holdfasts: Holdfasts, max: number, targets: number) =>
  closedLoop(id, (member) => {
    const limits = holdfasts(member).map((hf) => hf.limit(id, { max, per: "1h", cache: false }));
    const targetOf = (n: number) => `${member.place}:${n % targets}`;
    return async (caller, turn) => limits[caller]?.take(targetOf(turn * callers + caller));
  });

const check = checking("check", apart, plenty, fewNames);
const checkTogether = checking("check-together", together, plenty, fewNames);
/** Each target has had its one call in the first moment. */
const refusal = checking("refusal", apart, 1, callers);

/** The library says of each request how many leases it has renewed. */
async function renewalsWhile(wait: () => Promise<void>): Promise<number> {
  let renewed = 0;
  const hear = (message: unknown): void => {
    renewed += (message as { readonly leases: number }).leases;
  };
  subscribe("holdfast:lock:renewed", hear);
  await wait();
  unsubscribe("holdfast:lock:renewed", hear);
  return renewed;
}

function renewing(id: string, take: (member: Member) => Promise<Lease[]>): Load {
  return {
    id,
    helpers: 0,
    phases: [uncounted("warm"), counted("loop"), uncounted("release")],
    join(member, { turnsMs }) {
      let leases: Lease[] = [];
      return {
        async warm() {
          leases = await take(member);
          await member.sleep(2_000);
          return 0;
        },
        loop: () => renewalsWhile(() => member.sleep(turnsMs)),
        async release() {
          await Promise.all(leases.map((lease) => lease.release()));
          return 0;
        },
      };
    },
  };
}

const renewTogether = renewing("renew-together", ({ hf, place }) =>
  inGroups(fewNames, (n) => hf.mutex(`together:${place}:${n}`, { ttl: 5_000 }).acquire()),
);

/** Each lease in a Holdfast of its own, as if each were in a process of its own. */
const renewAlone = renewing("renew-alone", ({ another, place }) =>
  inGroups(500, (n) => another().mutex(`alone:${place}:${n}`, { ttl: 500 }).acquire()),
);

interface Line {
  readonly id: string;
  readonly holdfasts: number;
  /** Of each Holdfast. One request carries a hundred at most. */
  readonly names: number;
  readonly ttl: number;
}

const pauseBetweenMs = 50;
const settleMs = 2_000;
/** Signs of life of callers in line. */
function beating(line: Line): Load {
  return {
    id: line.id,
    helpers: 1,
    phases: [uncounted("hold"), uncounted("warm"), counted("loop"), uncounted("leave")],
    join: (member, scale) =>
      member.place < member.processes ? standing(line, member, scale) : holding(line, member),
  };
}

function holding({ holdfasts, names }: Line, { hf, processes }: Member): Readonly<Record<string, Step>> {
  return {
    async hold() {
      const total = processes * holdfasts * names;
      return (await inGroups(total, (n) => hf.mutex(`line:${n}`, { ttl: "12h" }).acquire())).length;
    },
  };
}

function standing(
  { holdfasts, names, ttl }: Line,
  { another, place: own, scripts, sleep }: Member,
  { turnsMs }: Scale,
): Readonly<Record<string, Step>> {
  const leaving = new AbortController();
  const waits: Promise<unknown>[] = [];
  return {
    async warm() {
      const first = own * holdfasts * names;
      for (let place = 0; place < holdfasts; place += 1) {
        const hf = another();
        for (let n = 0; n < names; n += 1) {
          const mutex = hf.mutex(`line:${first + place * names + n}`, { ttl });
          waits.push(mutex.acquire({ wait: "1h", signal: leaving.signal }).catch(() => null));
        }
        // Those who ask together give their signs of life together.
        if (names > 1) await sleep(pauseBetweenMs);
      }
      await sleep(settleMs);
      return 0;
    },
    async loop() {
      const before = scripts();
      await sleep(turnsMs);
      return (scripts() - before) * names;
    },
    async leave() {
      leaving.abort();
      await Promise.all(waits);
      return 0;
    },
  };
}

const beatTogether = beating({ id: "beat-together", holdfasts: 20, names: 100, ttl: 12_000 });
const beatAlone = beating({ id: "beat-alone", holdfasts: 300, names: 1, ttl: 2_000 });

export const loops: readonly Load[] = [
  get,
  emptyScript,
  cycle,
  cycleTogether,
  crowd,
  renewTogether,
  renewAlone,
  beatTogether,
  beatAlone,
  check,
  checkTogether,
  refusal,
];
