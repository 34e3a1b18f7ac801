/** Who takes part, and where each is found. A process loads only its own contestant. */

import type { Limiter } from "../limiters/limiter.js";
import type { Contestant, ContestantName, LimiterName } from "./contestant.js";

interface Entry {
  readonly title: string;
  /** By hand: a floor, never "the best peer". */
  readonly kind: "holdfast" | "peer" | "by-hand";
  /** Of the package, for its version in the result. */
  readonly package?: string;
  /** As a lock. */
  open?(port: number): Promise<Contestant>;
  limiter?(port: number): Promise<Limiter>;
}

export const roster: Readonly<Record<ContestantName, Entry>> = {
  holdfast: {
    title: "holdfast",
    kind: "holdfast",
    package: "holdfast",
    open: async (port) => (await import("./holdfast.js")).open(port),
    limiter: async (port) => (await import("../limiters/holdfast.js")).open(port),
  },
  floor: {
    title: "by hand: SET NX + EVALSHA",
    kind: "by-hand",
    open: async (port) => (await import("./by-hand.js")).open(port),
  },
  "floor-pipelined": {
    title: "by hand, auto-pipelining",
    kind: "by-hand",
    open: async (port) => (await import("./by-hand.js")).openPipelined(port),
  },
  baton: {
    title: "by hand: BLPOP baton",
    kind: "by-hand",
    open: async (port) => (await import("./baton.js")).open(port),
  },
  "told-baton": {
    title: "by hand: pub/sub baton",
    kind: "by-hand",
    open: async (port) => (await import("./told-baton.js")).open(port),
  },
  "no-lock": {
    title: "no lock",
    kind: "by-hand",
    open: async () => (await import("./no-lock.js")).open(),
  },
  redlock4: {
    title: "redlock 4",
    kind: "peer",
    package: "redlock4",
    open: async (port) => (await import("./redlock-4.js")).open(port),
  },
  redlock5: {
    title: "redlock 5 beta",
    kind: "peer",
    package: "redlock5",
    open: async (port) => (await import("./redlock-5.js")).open(port),
  },
  "redis-semaphore": {
    title: "redis-semaphore",
    kind: "peer",
    package: "redis-semaphore",
    open: async (port) => (await import("./redis-semaphore.js")).open(port),
  },
  "redlock-universal": {
    title: "redlock-universal",
    kind: "peer",
    package: "redlock-universal",
    open: async (port) => (await import("./redlock-universal.js")).open(port),
  },
  "sesamecare-redlock": {
    title: "@sesamecare-oss/redlock",
    kind: "peer",
    package: "@sesamecare-oss/redlock",
    open: async (port) => (await import("./sesamecare-redlock.js")).open(port),
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
};

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
