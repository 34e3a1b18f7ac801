/** What a case is, and what it may ask of the lab that it runs in. */
import type { FencedRecord, HoldfastOptions } from "holdfast";
import type { Locks } from "holdfast/locks";
import type { ManualClock } from "./clock.js";
import type { EventLog } from "./events.js";
import type { FaultProxy } from "./proxy.js";

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
 * - `spawn`: child processes that take part
 */
export type Need = "peek" | "tamper" | "owner" | "redis" | "proxy" | "freeze" | "restart" | "spawn";

/** The locks of one process: a Holdfast over Redis, `Locks` over another store. */
export type LabLocks = Pick<Locks, "mutex" | "close" | typeof Symbol.asyncDispose>;

export interface LockCase {
  /** The behaviour, as a sentence. Unique. */
  readonly name: string;
  /** Tests and reports of other libraries that this generalises; empty for a promise of holdfast alone. */
  readonly covers: readonly string[];
  readonly needs: readonly Need[];
  run(lab: LockLab): Promise<void>;
}

export interface HoldfastSetup extends HoldfastOptions {
  /** Its client connects through this proxy instead of to the server. */
  readonly through?: FaultProxy;
}

/** One case's surroundings. Everything made through it is ended after the case. */
export interface LockLab {
  /** Server and client, for people. */
  readonly title: string;
  /** Before every key and channel of this case, unless a setup says otherwise. */
  readonly prefix: string;
  /** Why a need cannot be met here. */
  readonly lacks: Readonly<Partial<Record<Need, string>>>;
  readonly events: EventLog;
  readonly peek: LockPeek;
  readonly tamper: LockTamper;
  readonly redis: RedisHand;
  /** What a client connects to, the server or the proxy before it: the need `proxy`. */
  url(through?: FaultProxy): string;
  /** A name that no other case uses. */
  name(stem?: string): string;
  /** Locks on a client of their own. */
  holdfast(setup?: HoldfastSetup): Promise<LabLocks>;
  /**
   * Resolves when everything that these locks have sent is answered. A case that then moves its clock on cannot make an answer
   * late that is on its way.
   */
  settled(locks: LabLocks): Promise<void>;
  /** A record in Redis, which refuses holders who were overtaken: the need `redis`. */
  record(locks: LabLocks, name: string): FencedRecord;
  /** A clock that the case moves. While the lab ends it is moved on, so that nothing hangs on it. */
  manualClock(): ManualClock;
  proxy(): Promise<FaultProxy>;
  freezeServer(): Promise<void>;
  thawServer(): Promise<void>;
  /** Ends the server and starts it anew without its memory. Connections break. */
  restartServer(): Promise<void>;
  spawn(): Promise<Contender>;
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

/** A child process with a Holdfast of its own. */
export interface Contender {
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
