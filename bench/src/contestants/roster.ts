/** Who takes part, and where each is found. A process loads only its own contestant. */
import type { Contestant, ContestantName } from "./contestant.js";

interface Entry {
  readonly title: string;
  /** By hand: a floor, never "the best peer". */
  readonly kind: "holdfast" | "peer" | "by-hand";
  /** Of the package, for its version in the result. */
  readonly package?: string;
  open(port: number): Promise<Contestant>;
}

export const roster: Readonly<Record<ContestantName, Entry>> = {
  holdfast: {
    title: "holdfast",
    kind: "holdfast",
    package: "holdfast",
    open: async (port) => (await import("./holdfast.js")).open(port),
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
};

export const PEERS: readonly ContestantName[] = [
  "redlock4",
  "redlock5",
  "redis-semaphore",
  "redlock-universal",
  "sesamecare-redlock",
];
