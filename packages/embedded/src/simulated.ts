/**
 * SimulatedValkey: a node in virtual time. The real engine, with a clock that its owner moves and can set wrong, bytes
 * from a seed, and the ways in which a server fails: it stands still, dies, comes back empty or with its files, falls
 * back to an earlier state, or is replaced by a replica that lags.
 *
 * Nothing happens by itself: the owner pushes bytes into connections, pumps, and pumps again every 100 ms or so for
 * the engine's own timers. One seed, one start time, the same bytes at the same times: the same replies.
 */
import type { ValkeyConnection, ValkeyPeer } from "./connection.js";
import { ValkeyCore } from "./core.js";
import { type EngineExitedError, NotRunningError } from "./errors.js";
import { MemoryFiles } from "./memory-files.js";
import { seededBytes } from "./simulated-bytes.js";
import { SimulatedClock } from "./simulated-clock.js";
import type { ValkeySnapshot } from "./snapshot.js";
import type { ValkeyModule } from "./wasm.js";

export interface SimulatedValkeyOptions {
  /** From `compileValkey()`. */
  readonly module: ValkeyModule;
  /** True time, in microseconds since 1970. Read for every look at a clock; must not go back. */
  readonly trueUs: () => number;
  /** Seed of the engine's hash seeds and run ids; a restart draws others. @default 1 */
  readonly seed?: number;
  /** How far the wall clock is ahead of true time at the start. @default 0 */
  readonly offsetMs?: number;
  /** Lines of a valkey.conf, read at every start. @default none */
  readonly config?: string;
  /** The node's disk; it survives a crash. @default an empty one */
  readonly files?: MemoryFiles;
  /** The engine's log, line by line. @default dropped */
  readonly log?: (line: string) => void;
  /**
   * Called while a script runs that does not end, each time the engine looks for what else came in: what the owner
   * pushes now is read, and may end the script. @default nothing comes in, and after ten minutes the node crashes
   */
  readonly onBusy?: () => void;
  /** A script that looks at the clock this often is one that does not end: from then on it takes time. @default 5000 */
  readonly longScriptReads?: number;
}

export interface RestartWith {
  /** "files": what is on its disk, with AOF or RDB if the config asks for them. "nothing": an empty disk. */
  readonly keep: "files" | "nothing";
}

export interface PromoteOptions {
  /** How far the wall clock of the new primary is ahead of true time. @default 0 */
  readonly offsetMs?: number;
}

export type NodeState = "running" | "paused" | "crashed";

/** A copy of a node, and when it was taken. */
export interface NodeCopy {
  readonly atUs: number;
  readonly snapshot: ValkeySnapshot;
}

/** More than the commands of one read from a socket need. */
const defaultLongScriptReads = 5_000;
const microsPerRead = 25_000;
const longestScriptUs = 600_000_000;

export class SimulatedValkey {
  readonly clock: SimulatedClock;
  readonly #options: SimulatedValkeyOptions;
  readonly #files: MemoryFiles;
  readonly #copies: NodeCopy[] = [];
  readonly #longScriptReads: number;
  #core: ValkeyCore;
  #state: NodeState = "running";
  #boots = 0;
  #reads = 0;

  /** Boots the engine. @throws {BootError} */
  constructor(options: SimulatedValkeyOptions) {
    this.#options = options;
    this.#files = options.files ?? new MemoryFiles();
    this.#longScriptReads = options.longScriptReads ?? defaultLongScriptReads;
    this.clock = new SimulatedClock(options.trueUs);
    this.clock.step(options.offsetMs ?? 0);
    this.#core = this.#newCore();
    this.#core.boot();
  }

  get state(): NodeState {
    return this.#state;
  }

  /** Why the engine itself ended; null while it lives. */
  get exited(): EngineExitedError | null {
    return this.#core.exited;
  }

  /** @throws {NotRunningError} nobody listens: crashed. A paused node takes connections, as a stopped process does. */
  connect(peer: ValkeyPeer): ValkeyConnection {
    if (this.#state === "crashed") throw new NotRunningError("The node has crashed. Restart it.");
    return this.#core.connect(peer);
  }

  /** Lets the engine work until nothing is left to do. Does nothing while it is paused or crashed. */
  pump(): void {
    if (this.#state !== "running") return;
    this.#reads = 0;
    this.#core.pump();
    if (this.#core.exited !== null) this.#state = "crashed";
  }

  /** Stops it as SIGSTOP does: its clocks go on, what is pushed waits. */
  pause(): void {
    if (this.#state === "running") this.#state = "paused";
  }

  resume(): void {
    if (this.#state === "paused") this.#state = "running";
    this.pump();
  }

  /** Ends it as SIGKILL does. Its peers hear that their connections are closed. */
  crash(): void {
    if (this.#state === "crashed") return;
    this.#core.vanish();
    this.#state = "crashed";
  }

  /** Starts a new engine, after a crash or in the place of a running one. @throws {BootError} */
  restart({ keep }: RestartWith = { keep: "nothing" }): void {
    this.crash();
    if (keep === "nothing") this.#files.replace([]);
    this.#core = this.#newCore();
    this.#core.boot();
    this.#state = "running";
  }

  /** A copy of what it is now. @throws {NotRunningError} crashed */
  copy(): NodeCopy {
    return { atUs: this.#options.trueUs(), snapshot: this.#core.snapshot() };
  }

  /** Takes a copy that `rollback` can go back to. */
  remember(): NodeCopy {
    const copy = this.copy();
    this.#copies.push(copy);
    return copy;
  }

  /**
   * Falls back to the latest remembered state that is at least `deltaMs` old, as a server does that lost the end of
   * its AOF. Its clients are gone.
   * @throws {RangeError} nothing that old is remembered
   */
  rollback(deltaMs: number): void {
    const latestUs = this.#options.trueUs() - deltaMs * 1000;
    const copy = this.#copies.findLast(({ atUs }) => atUs <= latestUs);
    if (!copy) throw new RangeError(`No copy is ${deltaMs} ms old. Call remember() in time.`);
    this.#become(copy);
  }

  /**
   * A replica with the state `copy` takes over, with its own clock. The later changes of the old primary are lost.
   * The copy may come from another node. It is the same engine otherwise, with its old run id.
   */
  promote(copy: NodeCopy, { offsetMs = 0 }: PromoteOptions = {}): void {
    this.clock.step(offsetMs - this.clock.errorMs);
    this.#become(copy);
  }

  #become(copy: NodeCopy): void {
    this.crash();
    this.#core = this.#newCore();
    this.#core.restore(copy.snapshot);
    this.#state = "running";
    this.pump(); // the clients of the copy have hung up
  }

  #newCore(): ValkeyCore {
    const { module, seed = 1, config, log } = this.#options;
    this.#boots += 1;
    return new ValkeyCore({
      module,
      clock: { realUs: this.#realUs, monoUs: this.#monoUs, sleepUs: this.clock.sleepUs },
      random: seededBytes(seed + this.#boots * 7919),
      files: this.#files,
      hooks: { onRead: this.#onRead, onPoll: this.#onPoll },
      ...(config === undefined ? {} : { config }),
      ...(log === undefined ? {} : { log }),
    });
  }

  readonly #realUs = (): number => {
    this.#read();
    return this.clock.realUs();
  };

  readonly #monoUs = (): number => {
    this.#read();
    return this.clock.monoUs();
  };

  /** Time stands still while the engine works, so a script that waits for it would never end. */
  #read(): void {
    this.#reads += 1;
    if (this.#reads <= this.#longScriptReads) return;
    this.clock.sleepUs(microsPerRead);
    if ((this.#reads - this.#longScriptReads) * microsPerRead > longestScriptUs)
      throw new Error("a script ran for ten minutes, and nobody ended it");
  }

  readonly #onRead = (): void => {
    this.#reads = 0;
  };

  readonly #onPoll = (): void => {
    if (this.#reads > this.#longScriptReads) this.#options.onBusy?.();
  };
}
