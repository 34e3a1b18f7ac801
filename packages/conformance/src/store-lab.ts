/** StoreLab: a case's surroundings over a store of locks other than Redis. */
import { IndeterminateError } from "holdfast";
import { type Clock, type LockBackend, Locks, systemClock } from "holdfast/locks";
import type { HoldfastSetup, LabLocks, LockLab, LockPeek, LockTamper, Need, Silence } from "./case.js";
import type { ManualClock } from "./clock.js";
import { EventLog } from "./events.js";
import { LabClocks } from "./lab-clocks.js";
import { within } from "./wait.js";

/** The store under test. */
export interface LabStore {
  readonly title: string;
  /** The store for one process, whose locks go by this clock. All of them share what the store keeps. */
  open(clock: Clock, label: string): LockBackend;
  /** Resolves when everything that these processes have sent is answered, and they have heard of it. */
  settled(): Promise<void>;
  readonly peek?: LockPeek;
  readonly tamper?: LockTamper;
  /** Whether its answers name the holder by `label`. */
  readonly tellsOwner?: boolean;
  /** Ends what belongs to the case. */
  close?(): Promise<void>;
}

let cases = 0;

export class StoreLab implements LockLab {
  readonly title: string;
  readonly prefix = `holdfast:store${++cases}-${process.pid}`;
  readonly lacks: Readonly<Partial<Record<Need, string>>>;
  readonly events = new EventLog();
  readonly silence: Silence = { type: IndeterminateError, code: "INDETERMINATE" };
  readonly #store: LabStore;
  readonly #clocks = new LabClocks();
  readonly #opened: Locks[] = [];
  #names = 0;

  constructor(store: LabStore) {
    this.#store = store;
    this.title = store.title;
    this.lacks = {
      ...(store.peek ? {} : { peek: "nobody looks into this store" }),
      ...(store.tamper ? {} : { tamper: "nobody changes this store behind its back" }),
      ...(store.tellsOwner ? {} : { owner: "this store does not tell who holds a name" }),
      redis: "this store is not Redis",
      proxy: "the fault proxy reads Redis only",
      freeze: "this store cannot be frozen",
      restart: "this store cannot be restarted",
      spawn: "no child processes are set up here",
    };
  }

  get peek(): LockPeek {
    return this.#store.peek ?? this.#lacking("peek");
  }

  get tamper(): LockTamper {
    return this.#store.tamper ?? this.#lacking("tamper");
  }

  get redis(): never {
    return this.#lacking("redis");
  }

  name(stem = "name"): string {
    return `${this.prefix}-${stem}-${++this.#names}`;
  }

  async holdfast({ clock = systemClock, label = "", random }: HoldfastSetup = {}): Promise<LabLocks> {
    const locks = new Locks(this.#store.open(clock, label), { clock, label, random });
    this.#opened.push(locks);
    return locks;
  }

  settled(): Promise<void> {
    return this.#store.settled();
  }

  manualClock(): ManualClock {
    return this.#clocks.create();
  }

  record(): never {
    return this.#lacking("redis");
  }

  url(): never {
    return this.#lacking("proxy");
  }

  async proxy(): Promise<never> {
    return this.#lacking("proxy");
  }

  async freezeServer(): Promise<never> {
    return this.#lacking("freeze");
  }

  async thawServer(): Promise<never> {
    return this.#lacking("freeze");
  }

  async restartServer(): Promise<never> {
    return this.#lacking("restart");
  }

  async spawn(): Promise<never> {
    return this.#lacking("spawn");
  }

  async readNumber(): Promise<never> {
    return this.#lacking("spawn");
  }

  /** Ends everything that the case made. */
  async close(): Promise<void> {
    const stop = this.#clocks.run();
    try {
      await within(Promise.all(this.#opened.map((locks) => locks.close())), "the end of all locks");
    } finally {
      stop();
      this.events.close();
      await this.#store.close?.();
    }
  }

  #lacking(need: Need): never {
    throw new Error(this.lacks[need]);
  }
}
