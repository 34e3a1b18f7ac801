/** What a case is, and what it may ask of the lab that it runs in. */
import type { Holdfast, HoldfastOptions, RedisClientLike, VersionedRecord } from "holdfast";
import type { Locks } from "holdfast/locks";
import type { ManualClock } from "./clock.js";
import type { EventLog } from "./events.js";
import type { Wire } from "./wire.js";

/**
 * What a lab may lack:
 * - `proxy`: a fault proxy between a client and the server
 * - `peek`: a look at what the store keeps of a name
 * - `tamper`: a hand in it, behind the library's back
 * - `owner`: a store that tells who holds a name
 * - `redis`: what only Redis and its kind have: scripts, keys that can be torn apart, a token that is kept as a number, prefixes,
 *   records, and signs of life from which a lease counts when it is handed over
 * - `freeze`: stopping the server without its connections ending
 * - `restart`: a server that comes back without its memory
 * - `rollback`: a server that comes back with an older memory
 * - `single`: one server that decides alone, by one answer to one request
 * - `spawn`: child processes that take part
 */
export type Need =
  | "peek"
  | "tamper"
  | "owner"
  | "redis"
  | "proxy"
  | "freeze"
  | "restart"
  | "rollback"
  | "single"
  | "spawn";

/** The error of an attempt that the store left without an answer. */
export interface Silence {
  readonly type: abstract new (...given: never[]) => Error;
  readonly code: string;
}

/** The locks of one process: a Holdfast over Redis, `Locks` over another store. */
export type LabLocks = Pick<Locks, "mutex" | "close" | typeof Symbol.asyncDispose>;

/** One behaviour, and the test of it in surroundings of this kind. */
export interface Case<Surroundings extends Lab> {
  /** The behaviour, as a sentence. Unique. */
  readonly name: string;
  /** Tests and reports of other libraries that this generalises; empty for a promise of holdfast alone. */
  readonly covers: readonly string[];
  readonly needs: readonly Need[];
  /** It waits for the end of a lease, a term or a limit by the store's own clock, so in a real store it takes that long. @default false */
  readonly waits?: true;
  run(lab: Surroundings): Promise<void>;
}

/** A case of the mutex, over any store of locks. */
export type LockCase = Case<LockLab>;

/** A case of a noun that exists over Redis only. */
export type NounCase = Case<NounLab>;

export interface HoldfastSetup extends HoldfastOptions {
  /** Its client connects through this proxy instead of to the server. */
  readonly through?: Wire;
  /** It is given a URL instead of a client, and opens its connections itself. */
  readonly byUrl?: boolean;
}

/** One case's surroundings, whatever it is about. Everything made through it is ended after the case. */
export interface Lab {
  /** Server and client, for people. */
  readonly title: string;
  /** Before every key and channel of this case, unless a setup says otherwise. */
  readonly prefix: string;
  /** Why a need cannot be met here. */
  readonly lacks: Readonly<Partial<Record<Need, string>>>;
  readonly events: EventLog;
  /** What a client connects to, the server or the proxy before it: the need `proxy`. */
  url(through?: Wire): string;
  /** A name that no other case uses. */
  name(stem?: string): string;
  /** A clock that the case moves. While the lab ends it is moved on, so that nothing hangs on it. */
  manualClock(): ManualClock;
  proxy(): Promise<Wire>;
  freezeServer(): Promise<void>;
  thawServer(): Promise<void>;
  /** Ends the server and starts it anew without its memory. Connections break. */
  restartServer(): Promise<void>;
  spawn(): Promise<Contender>;
}

/** The surroundings of a case over Redis. */
export interface NounLab extends Lab {
  /** A Holdfast on a client of its own, as in a process of its own. */
  holdfast(setup?: HoldfastSetup): Promise<Holdfast>;
  /** A client without a Holdfast. */
  client(through?: Wire): Promise<RedisClientLike>;
  /** Sends one command to the server, behind the library's back, on a connection that no fault touches. */
  command(...words: string[]): Promise<unknown>;
  /**
   * Resolves when everything that this Holdfast has sent is answered. A case that then moves its clock on cannot make an
   * answer late that is on its way.
   */
  settled(holdfast: Holdfast): Promise<void>;
}

/** The surroundings of a case of the mutex. */
export interface LockLab extends Lab {
  readonly peek: LockPeek;
  readonly tamper: LockTamper;
  readonly redis: RedisHand;
  readonly silence: Silence;
  /** Locks on a client of their own. */
  holdfast(setup?: HoldfastSetup): Promise<LabLocks>;
  /** Like that of a NounLab, for these locks. */
  settled(locks: LabLocks): Promise<void>;
  /** A record in Redis, which refuses holders who were overtaken: the need `redis`. */
  record(locks: LabLocks, name: string): VersionedRecord;
  /** The number that contenders counted at `key`: the need `spawn`. */
  readNumber(key: string): Promise<number>;
}

/** What the store keeps, seen behind the library's back. */
export interface LockPeek {
  /** Milliseconds for which the name stays held unless somebody acts; null when it is free. */
  leftMs(name: string): Promise<number | null>;
  /** Processes that stand in line. */
  waiting(name: string): Promise<number>;
  /** What is kept of the name besides its last token. */
  residue(name: string): Promise<string[]>;
  /** What is kept of the name and would stay for ever. */
  everlasting(name: string): Promise<string[]>;
}

/** What the store keeps, changed behind the library's back. */
export interface LockTamper {
  /** Puts a stranger in the holder's place. */
  seize(name: string): Promise<void>;
  /** Loses holder and line; the last token stays. */
  forget(name: string): Promise<void>;
}

/** What only Redis, and servers that speak like it, have to be looked at and spoilt. */
export interface RedisHand {
  /** Processes of this case that the server can reach by message. */
  listeners(): Promise<number>;
  /** Loses one part: the holder, the order of the line, or what is known of those who stand in it. */
  tear(name: string, part: "holder" | "order" | "entries"): Promise<void>;
  setToken(name: string, token: bigint): Promise<void>;
  forgetToken(name: string): Promise<void>;
  /** For how long the last token is kept. */
  tokenLeftMs(name: string): Promise<number>;
  /** Makes the holder's place unusable: it holds something that no lock wrote. */
  spoil(name: string): Promise<void>;
  /** Loses the scripts that were loaded. */
  forgetScripts(): Promise<void>;
  /** The server's clock, in microseconds: tokens follow it. */
  nowMicros(): Promise<bigint>;
}

/** All three over one server. */
export interface LockStore extends LockPeek, LockTamper, RedisHand {}

export interface ContenderTerms {
  readonly name: string;
  readonly ttlMs: number;
  readonly waitMs: number;
}

/** What a function that a contender performs has there. */
export interface ContenderHands {
  readonly holdfast: Holdfast;
  /** The resource: the server, or the first of the nodes. */
  readonly redis: {
    get(key: string): Promise<string | null>;
    set(key: string, value: string): Promise<unknown>;
  };
  /** For what a later call needs. */
  readonly kept: Record<string, unknown>;
}

/** A process with a Holdfast of its own: a child process, or one of a simulated world. */
export interface Contender {
  /**
   * Calls `work` in that process, and resolves with its result. The function travels as text, so it must not use anything from
   * outside. Argument and result travel as structured clones.
   */
  perform<Argument, Result>(
    work: (hands: ContenderHands, argument: Argument) => Promise<Result> | Result,
    argument: Argument,
  ): Promise<Result>;
  /** Resolves with the fence when it holds the name, null when it did not get it. */
  acquire(terms: ContenderTerms): Promise<bigint | null>;
  release(): Promise<string>;
  /** Takes the name `rounds` times; each time reads the number at `key`, adds one and writes it back, unguarded. */
  count(terms: ContenderTerms & { readonly key: string; readonly rounds: number }): Promise<void>;
  /** Whether it believes that its lease is valid, by the first look after the question came. */
  holds(): Promise<boolean>;
  /** SIGSTOP: stands still, with its connections open. */
  freeze(): Promise<void>;
  /** SIGCONT. */
  thaw(): Promise<void>;
  /** Ends without releasing anything, by its own will. */
  exit(): Promise<void>;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** The case needs it no more: it is ended, or kept for another case, with nothing open. */
  dismiss(): Promise<void>;
}
