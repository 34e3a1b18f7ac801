/**
 * ValkeyCore: one Valkey engine as a synchronous object. No timers, no sockets, no clock and no
 * randomness of its own: what it needs is passed in, so the same core serves TCP in real time and a
 * simulation in virtual time.
 *
 * Life     new, then boot() or restore(); then push bytes into connections and pump().
 * Passes   a pass reads and executes; the replies leave at the start of the next one. Hence pump():
 *          step until a pass finds nothing to do. Pump once more per tick for the engine's own timers.
 * Crash    a trap, or the engine's own exit, ends it: `exited` is set, clients are told, and no
 *          further code of that instance runs.
 */
import type { ValkeyConnection, ValkeyPeer } from "./connection.js";
import { DescriptorTable } from "./descriptors.js";
import { BootError, type EmbeddedError, EngineExitedError, NotRunningError } from "./errors.js";
import { Host, type ValkeyHooks } from "./host.js";
import { EngineMemory } from "./memory.js";
import { MemoryFiles } from "./memory-files.js";
import {
  recordDescriptors,
  restoreDescriptors,
  type SnapshotContent,
  type ValkeySnapshot,
} from "./snapshot.js";
import { configPath, includeConfig } from "./start-config.js";
import { systemImports, type ValkeyClock } from "./wasi.js";
import { descriptorImports, type FilePorts } from "./wasi-descriptors.js";
import { pathImports } from "./wasi-paths.js";
import { transferImports } from "./wasi-transfer.js";
import { type EngineExports, instantiate, pageBytes, type ValkeyModule } from "./wasm.js";

export interface ValkeyCoreOptions {
  /** From `compileValkey()`. One module serves any number of cores. */
  readonly module: ValkeyModule;
  readonly clock: ValkeyClock;
  /** Fills the array with random bytes; the engine's hash seeds and run id come from here. */
  readonly random: (target: Uint8Array) => void;
  /** The files under "/" of the engine. @default an empty file system */
  readonly files?: MemoryFiles;
  /** The engine's log, line by line. @default dropped */
  readonly log?: (line: string) => void;
  /** The port the engine believes to listen on. @default 6379 */
  readonly port?: number;
  /** Lines of a valkey.conf; they override the engine's fixed arguments. @default none */
  readonly config?: string;
  readonly hooks?: ValkeyHooks;
}

const defaultPort = 6379;
const keptLogLines = 12;
const mostQuietPasses = 3;

export class ValkeyCore {
  readonly files: MemoryFiles;
  readonly port: number;
  readonly #options: ValkeyCoreOptions;
  readonly #host: Host;
  readonly #descriptors = new DescriptorTable();
  readonly #lastLines: string[] = [];
  #partialLine = "";
  #engine: EngineExports | null = null;
  #memory: EngineMemory | null = null;
  #exited: EngineExitedError | null = null;

  constructor(options: ValkeyCoreOptions) {
    this.#options = options;
    this.files = options.files ?? new MemoryFiles();
    this.port = options.port ?? defaultPort;
    this.#host = new Host(this.#view, options.hooks ?? {});
  }

  /** Why the engine is gone; null while it lives or has not been started. */
  get exited(): EngineExitedError | null {
    return this.#exited;
  }

  /** Size of the engine's memory, at most 4 GB. It grows with data and scripts, and never shrinks. */
  get memoryBytes(): number {
    return this.#engine?.memory.buffer.byteLength ?? 0;
  }

  /** Clients the engine has accepted and not yet closed. */
  get connectionCount(): number {
    return this.#host.connectionCount;
  }

  /** Runs the engine's start-up. @throws {BootError} it refused, for instance because of `config`. */
  boot(): void {
    if (this.#engine !== null || this.#exited !== null)
      throw new NotRunningError("A core boots once. Create a new one.");
    if (this.#options.config !== undefined) this.files.write(configPath, this.#options.config);
    const engine = this.#instantiate();
    try {
      engine._initialize();
      if (this.#options.config !== undefined) includeConfig(this.#view());
      const status = engine.rk_boot(this.port);
      if (status !== 0) throw new Error(`boot status ${status}`);
      this.#host.keepPorts();
    } catch (cause) {
      if (this.#exited === null) this.#die(null, cause);
      throw this.#bootError(cause);
    }
  }

  /** One pass: what is due now, without ever waiting. Returns how many events it handled, 0 after a crash. */
  step(): number {
    if (this.#exited !== null) return 0;
    if (this.#engine === null)
      throw new NotRunningError("The core has no engine yet. Call boot() or restore() first.");
    try {
      return this.#engine.rk_step();
    } catch (cause) {
      if (this.#exited === null) this.#die(null, cause);
      this.#host.closeAll();
      return 0;
    }
  }

  /** Steps until everything pushed so far is answered. Returns the number of passes. */
  pump(): number {
    let passes = 0;
    let quietPasses = 0;
    // Passes slower than the engine's timers would each find a timer due again, and never end.
    while (quietPasses < mostQuietPasses) {
      passes += 1;
      if (this.step() === 0) break;
      quietPasses = this.#host.firedCount > 0 ? 0 : quietPasses + 1;
    }
    return passes;
  }

  /**
   * A new client. The engine notices it in the next pass.
   * @throws {NotRunningError} nothing listens: not started, exited, or told to by `port 0`.
   */
  connect(peer: ValkeyPeer): ValkeyConnection {
    const connection = this.#exited === null ? this.#host.connect(this.port, peer) : null;
    if (connection === null)
      throw new NotRunningError("The engine does not listen. Boot it, or see `exited`.");
    return connection;
  }

  /** A copy of the engine between two steps. */
  snapshot(): ValkeySnapshot {
    const engine = this.#engine;
    if (engine === null || this.#exited !== null)
      throw new NotRunningError("Only a living engine can be copied.");
    const content: SnapshotContent = {
      memoryBytes: this.memoryBytes,
      memory: this.#view().bytes.slice(),
      stackPointer: engine.__stack_pointer.value,
      endpoints: this.#host.records(),
      files: this.files.entries(),
      open: recordDescriptors(this.#descriptors, this.files),
    };
    return content;
  }

  /** Replaces the state of this core by that of the snapshot. The connections of its clients end. */
  restore(snapshot: ValkeySnapshot): void {
    const content = snapshot as SnapshotContent;
    this.#host.closeAll();
    this.#exited = null;
    const engine = this.#instantiate();
    const missingPages = (content.memory.length - engine.memory.buffer.byteLength) / pageBytes;
    if (missingPages > 0) engine.memory.grow(missingPages);
    this.#view().bytes.set(content.memory);
    engine.__stack_pointer.value = content.stackPointer;
    this.files.replace(content.files);
    restoreDescriptors(this.#descriptors, content.open, this.files);
    this.#host.adopt(content.endpoints);
    this.#host.keepPorts();
  }

  /** Ends the engine between two steps, like a killed process. The connections of its clients end. */
  vanish(): void {
    if (this.#exited !== null) return;
    this.#exited = new EngineExitedError("The engine was ended from outside; its data is gone.", null);
    this.#host.closeAll();
    this.#engine = null;
    this.#memory = null;
  }

  #instantiate(): EngineExports {
    const { module, clock, random } = this.#options;
    const ports: FilePorts = {
      memory: this.#view,
      files: this.files,
      descriptors: this.#descriptors,
      random,
      print: this.#print,
    };
    const wasi = {
      ...systemImports({ memory: this.#view, clock, exit: this.#exit }),
      ...descriptorImports(ports),
      ...transferImports(ports),
      ...pathImports(ports),
    };
    const engine = instantiate(module, this.#host.imports, wasi);
    this.#engine = engine;
    this.#memory = new EngineMemory(engine.memory);
    return engine;
  }

  #view = (): EngineMemory => this.#memory as EngineMemory;

  #exit = (code: number): never => {
    // Noted before the throw, so that no handler inside the engine can make it run on unnoticed.
    this.#die(code, undefined);
    throw this.#exited;
  };

  #die(exitCode: number | null, cause: unknown): void {
    const what = exitCode === null ? "The engine trapped" : `The engine exited with code ${exitCode}`;
    const words = this.#lastLines.at(-1);
    const message = `${what}; its data and connections are gone. Restart it.${words ? ` Its last words: ${words}` : ""}`;
    this.#exited = new EngineExitedError(message, exitCode, cause === undefined ? {} : { cause });
  }

  #bootError(cause: unknown): EmbeddedError {
    if (cause instanceof BootError) return cause;
    return new BootError("The engine refused to start. Check `config`.", this.#lastLines.slice(), { cause });
  }

  #print = (text: string): void => {
    const lines = (this.#partialLine + text).split("\n");
    this.#partialLine = lines.pop() ?? "";
    for (const line of lines) {
      if (line.trim() === "") continue;
      this.#lastLines.push(line);
      if (this.#lastLines.length > keptLogLines) this.#lastLines.shift();
      this.#options.log?.(line);
    }
  };
}
