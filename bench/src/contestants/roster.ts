/** Who takes part, and where each is found. A process loads only its own contestant. */

import type { Courier } from "../couriers/courier.js";
import type { Limiter } from "../limiters/limiter.js";
import type { Teller } from "../tellers/teller.js";
import { isBefore, nowOf } from "./before.js";
import type { Contestant, ContestantName, LimiterName, OwnName } from "./contestant.js";

interface Entry {
  readonly title: string;
  /** By hand: a floor, never "the best peer". */
  readonly kind: "holdfast" | "peer" | "by-hand";
  /** Of the package, for its version in the result. */
  readonly package?: string;
  /** As a lock. */
  open?(port: number): Promise<Contestant>;
  /** As a lock over several servers. */
  redlock?(ports: readonly number[]): Promise<Contestant>;
  limiter?(port: number): Promise<Limiter>;
  teller?(port: number): Promise<Teller>;
  courier?(port: number): Promise<Courier>;
}

export const roster: Readonly<Record<OwnName, Entry>> = {
  holdfast: {
    title: "holdfast",
    kind: "holdfast",
    package: "holdfast",
    open: async (port) => (await import("./holdfast.js")).open(port),
    redlock: async (ports) => (await import("./redlock-holdfast.js")).openOver(ports),
    limiter: async (port) => (await import("../limiters/holdfast.js")).open(port),
    courier: async (port) => (await import("../couriers/holdfast.js")).openQueue(port),
  },
  "holdfast-linger": {
    title: "holdfast, linger",
    kind: "holdfast",
    open: async (port) => (await import("./holdfast.js")).openLingering(port),
  },
  floor: {
    title: "by hand: SET NX + EVALSHA",
    kind: "by-hand",
    open: async (port) => (await import("./by-hand.js")).open(port),
  },
  "redlock-floor": {
    title: "by hand: SET NX on all",
    kind: "by-hand",
    redlock: async (ports) => (await import("./redlock-by-hand.js")).openOver(ports),
  },
  "floor-pipelined": {
    title: "by hand, auto-pipelining",
    kind: "by-hand",
    open: async (port) => (await import("./by-hand.js")).openPipelined(port),
  },
  fenced: {
    title: "by hand: one fenced key",
    kind: "by-hand",
    open: async (port) => (await import("./fenced-by-hand.js")).open(port),
  },
  baton: {
    title: "by hand: BLPOP baton",
    kind: "by-hand",
    open: async (port) => (await import("./baton.js")).open(port),
  },
  batons: {
    title: "by hand: 8 BLPOP batons",
    kind: "by-hand",
    open: async (port) => (await import("./baton.js")).openPermits(port),
  },
  told: {
    title: "by hand: told by message",
    kind: "by-hand",
    open: async (port) => (await import("./told-by-hand.js")).open(port),
  },
  "no-lock": {
    title: "no lock",
    kind: "by-hand",
    open: async () => (await import("./no-lock.js")).open(),
  },
  "holdfast-semaphore": {
    title: "holdfast, semaphore",
    kind: "holdfast",
    open: async (port) => (await import("./permits.js")).openSemaphore(port),
  },
  "holdfast-rw": {
    title: "holdfast, read-write lock",
    kind: "holdfast",
    open: async (port) => (await import("./permits.js")).openRwLock(port),
  },
  "redis-semaphore-limit": {
    title: "redis-semaphore, Semaphore",
    kind: "peer",
    open: async (port) => (await import("./permits.js")).openRedisSemaphore(port),
  },
  "redis-semaphore-all": {
    title: "redis-semaphore, MultiSemaphore",
    kind: "peer",
    open: async (port) => (await import("./permits.js")).openMultiSemaphore(port),
  },
  redlock4: {
    title: "redlock 4",
    kind: "peer",
    package: "redlock4",
    open: async (port) => (await import("./redlock-4.js")).open(port),
    redlock: async (ports) => (await import("./redlock-4.js")).open(...ports),
  },
  redlock5: {
    title: "redlock 5 beta",
    kind: "peer",
    package: "redlock5",
    open: async (port) => (await import("./redlock-5.js")).open(port),
    redlock: async (ports) => (await import("./redlock-5.js")).open(...ports),
  },
  "redis-semaphore": {
    title: "redis-semaphore",
    kind: "peer",
    package: "redis-semaphore",
    open: async (port) => (await import("./redis-semaphore.js")).open(port),
    redlock: async (ports) => (await import("./redis-semaphore.js")).openOver(ports),
  },
  "redlock-universal": {
    title: "redlock-universal",
    kind: "peer",
    package: "redlock-universal",
    open: async (port) => (await import("./redlock-universal.js")).open(port),
    redlock: async (ports) => (await import("./redlock-universal.js")).openOver(ports),
  },
  "sesamecare-redlock": {
    title: "@sesamecare-oss/redlock",
    kind: "peer",
    package: "@sesamecare-oss/redlock",
    open: async (port) => (await import("./sesamecare-redlock.js")).open(port),
    redlock: async (ports) => (await import("./sesamecare-redlock.js")).open(...ports),
  },
  "holdfast-gcra": {
    title: "holdfast, gcra",
    kind: "holdfast",
    limiter: async (port) => (await import("../limiters/holdfast.js")).openGcra(port),
  },
  "holdfast-block": {
    title: "holdfast, blocks of 100",
    kind: "holdfast",
    limiter: async (port) => (await import("../limiters/holdfast.js")).openBlock(port),
  },
  "holdfast-group": {
    title: "holdfast, a group of three",
    kind: "holdfast",
    limiter: async (port) => (await import("../limiters/holdfast.js")).openGroup(port),
  },
  "holdfast-singles": {
    title: "holdfast, three one by one",
    kind: "holdfast",
    limiter: async (port) => (await import("../limiters/holdfast.js")).openSingles(port),
  },
  gcra: {
    title: "by hand: a GCRA script",
    kind: "by-hand",
    limiter: async (port) => (await import("../limiters/by-hand.js")).open(port),
  },
  "gcra-pipelined": {
    title: "by hand, auto-pipelining",
    kind: "by-hand",
    limiter: async (port) => (await import("../limiters/by-hand.js")).openPipelined(port),
  },
  "rate-limiter-flexible": {
    title: "rate-limiter-flexible",
    kind: "peer",
    package: "rate-limiter-flexible",
    limiter: async (port) => (await import("../limiters/rate-limiter-flexible.js")).open(port),
  },
  "rate-limiter-flexible-block": {
    title: "the same, memory block",
    kind: "peer",
    limiter: async (port) => (await import("../limiters/rate-limiter-flexible.js")).openBlock(port),
  },
  "rate-limiter-flexible-union": {
    title: "the same, union of three",
    kind: "peer",
    limiter: async (port) => (await import("../limiters/rate-limiter-flexible.js")).openUnion(port),
  },
  "upstash-ratelimit": {
    title: "@upstash/ratelimit",
    kind: "peer",
    package: "@upstash/ratelimit",
    limiter: async (port) => (await import("../limiters/upstash-ratelimit.js")).open(port),
  },
  bottleneck: {
    title: "bottleneck",
    kind: "peer",
    package: "bottleneck",
    limiter: async (port) => (await import("../limiters/bottleneck.js")).open(port),
  },
  "holdfast-signal": {
    title: "holdfast, emit and wait",
    kind: "holdfast",
    teller: async (port) => (await import("../tellers/holdfast.js")).openSignal(port),
  },
  "holdfast-signal-one": {
    title: "holdfast, emitOne and wait",
    kind: "holdfast",
    teller: async (port) => (await import("../tellers/holdfast.js")).openOne(port),
  },
  "holdfast-event": {
    title: "holdfast, an event",
    kind: "holdfast",
    teller: async (port) => (await import("../tellers/holdfast.js")).openEvent(port),
  },
  pubsub: {
    title: "by hand: PUBLISH",
    kind: "by-hand",
    teller: async (port) => (await import("../tellers/by-hand.js")).open(port),
  },
  "holdfast-election": {
    title: "holdfast, an election",
    kind: "holdfast",
    open: async (port) => (await import("./elections.js")).open(port),
  },
  "nx-loop": {
    title: "by hand: SET NX PX in a loop",
    kind: "by-hand",
    open: async (port) => (await import("./elections-by-hand.js")).open(port),
  },
  "holdfast-update": {
    title: "holdfast, update",
    kind: "holdfast",
    open: async (port) => (await import("./records.js")).openUpdate(port),
  },
  "watch-multi": {
    title: "by hand: WATCH and MULTI",
    kind: "by-hand",
    open: async (port) => (await import("./records-by-hand.js")).openWatchMulti(port),
  },
  "compare-and-set": {
    title: "by hand: GET and a script",
    kind: "by-hand",
    open: async (port) => (await import("./records-by-hand.js")).openCompareAndSet(port),
  },
  "holdfast-get": {
    title: "holdfast, get",
    kind: "holdfast",
    open: async (port) => (await import("./records.js")).openGet(port),
  },
  get: {
    title: "by hand: GET",
    kind: "by-hand",
    open: async (port) => (await import("./records-by-hand.js")).openGet(port),
  },
  "holdfast-put": {
    title: "holdfast, put",
    kind: "holdfast",
    open: async (port) => (await import("./records.js")).openPut(port),
  },
  set: {
    title: "by hand: SET",
    kind: "by-hand",
    open: async (port) => (await import("./records-by-hand.js")).openSet(port),
  },
  "holdfast-put-many": {
    title: "holdfast, putMany of 100",
    kind: "holdfast",
    open: async (port) => (await import("./records.js")).openPutMany(port),
  },
  "holdfast-once": {
    title: "holdfast, once",
    kind: "holdfast",
    open: async (port) => (await import("./once.js")).openFirst(port),
  },
  "holdfast-once-done": {
    title: "holdfast, once, done already",
    kind: "holdfast",
    open: async (port) => (await import("./once.js")).openDone(port),
  },
  "set-once": {
    title: "by hand: SET NX, then SET",
    kind: "by-hand",
    open: async (port) => (await import("./once.js")).openSetOnce(port),
  },
  "set-many": {
    title: "by hand: 100 SET in a pipeline",
    kind: "by-hand",
    open: async (port) => (await import("./records-by-hand.js")).openSetMany(port),
  },
  "holdfast-lanes": {
    title: "holdfast, lanes",
    kind: "holdfast",
    courier: async (port) => (await import("../couriers/holdfast.js")).openLanes(port),
  },
  bullmq: {
    title: "bullmq",
    kind: "peer",
    package: "bullmq",
    courier: async (port) => (await import("../couriers/bullmq.js")).open(port),
  },
  "bee-queue": {
    title: "bee-queue",
    kind: "peer",
    package: "bee-queue",
    courier: async (port) => (await import("../couriers/bee-queue.js")).open(port),
  },
  list: {
    title: "by hand: LPUSH, BLMOVE, LREM",
    kind: "by-hand",
    courier: async (port) => (await import("../couriers/by-hand.js")).openList(port),
  },
  stream: {
    title: "by hand: a stream, a group",
    kind: "by-hand",
    courier: async (port) => (await import("../couriers/by-hand.js")).openStream(port),
  },
};

/** A contestant of before is what its twin is. */
export function entryOf(name: ContestantName): Entry {
  if (!isBefore(name)) return roster[name];
  const now = roster[nowOf(name) as OwnName];
  return { ...now, title: `before: ${now.title}` };
}

export const LIMITER_PEERS: readonly LimiterName[] = [
  "rate-limiter-flexible",
  "upstash-ratelimit",
  "bottleneck",
];

export const PEERS: readonly ContestantName[] = [
  "redlock4",
  "redlock5",
  "redis-semaphore",
  "redlock-universal",
  "sesamecare-redlock",
];
