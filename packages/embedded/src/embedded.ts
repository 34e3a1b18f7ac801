/**
 * EmbeddedValkey: a real Valkey on a TCP port, inside this process.
 *
 * Calls that change its life (stop, restart) run one after another, in the order they were made.
 */
import { EventEmitter } from "node:events";
import { type EngineExitedError, NotRunningError } from "./errors.js";
import { compileValkey } from "./module.js";
import { type EmbeddedValkeyOptions, readOptions, type ServerOptions } from "./options.js";
import { type FileEntries, figure, type RunningServer, type ServerEvents, startServer } from "./server.js";
import { ServerThread } from "./thread.js";
import { realTimers } from "./time.js";

export interface EmbeddedValkeyEvents {
  /** The engine is gone without stop(): SHUTDOWN, out of memory, a trap. `restart()` brings it back. */
  exit: [error: EngineExitedError];
}

export interface EmbeddedValkeyStats {
  /** Size of the engine's memory, at most 4 GB: grows with data and scripts, never shrinks before a restart. */
  readonly memoryBytes: number;
  /** Clients connected. */
  readonly connections: number;
  /** Passes of the engine's event loop since the start. It stands still while a script runs without end. */
  readonly passes: number;
}

export interface RestartOptions {
  /**
   * Carry the data over, by a SHUTDOWN SAVE to the engine's files in memory: no write that was answered is lost. After a crash, what those
   * files hold. @default false
   */
  readonly keep?: boolean;
}

export class EmbeddedValkey extends EventEmitter<EmbeddedValkeyEvents> implements AsyncDisposable {
  readonly host: string;
  readonly #options: ServerOptions;
  #port: number;
  #server: RunningServer | null = null;
  #figures: Float64Array = new Float64Array(figure.count);
  #files: FileEntries = [];
  /** stop() was called. */
  #isStopping = false;
  #isStopped = false;
  /** Saves its data, to be restarted with it. */
  #saving: RunningServer | null = null;
  #lastCall: Promise<void> = Promise.resolve();

  private constructor(options: ServerOptions) {
    super();
    this.#options = options;
    this.#port = options.port;
    this.host = options.host;
  }

  /**
   * Starts an engine and resolves when it answers.
   * @throws {InvalidOptionError} @throws {PortInUseError} @throws {ListenError} @throws {BootError} @throws {EngineFileError}
   */
  static async start(options: EmbeddedValkeyOptions = {}): Promise<EmbeddedValkey> {
    const valkey = new EmbeddedValkey(readOptions(options));
    await valkey.#launch([]);
    return valkey;
  }

  /** The port in use. It stays the same over restarts. */
  get port(): number {
    return this.#port;
  }

  /** For any client: `redis://127.0.0.1:6379`. */
  get url(): string {
    const host = this.host.includes(":") ? `[${this.host}]` : this.host;
    return `redis://${host}:${this.#port}`;
  }

  /** false after stop() and after an 'exit' event. */
  get isRunning(): boolean {
    return this.#server !== null;
  }

  /** Read without asking the engine, so it answers even when the engine is busy. At most some 10 ms old. */
  stats(): EmbeddedValkeyStats {
    return {
      memoryBytes: this.#figures[figure.memoryBytes] as number,
      connections: this.#figures[figure.connections] as number,
      passes: this.#figures[figure.passes] as number,
    };
  }

  /** Ends the engine; its data is gone. Safe to repeat. Resolves when the port is free and the thread has ended. */
  stop(): Promise<void> {
    // A script without end would keep it from saving, for a restart that this call takes back.
    this.#isStopping = true;
    void this.#saving?.close();
    return this.#inTurn(async () => {
      this.#isStopped = true;
      await this.#end();
    });
  }

  /**
   * Ends the engine, even one inside an endless script, and starts a fresh one on the same port.
   * @throws {SaveError} `keep` was asked for and the engine could not save; it runs on unchanged.
   * @throws {NotRunningError} stop() came before, or while the data was saved.
   */
  restart({ keep = false }: RestartOptions = {}): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#isStopped) throw new NotRunningError("The engine was stopped. Start a new one.");
      const files = keep ? await this.#savedFiles() : [];
      await this.#end();
      await this.#launch(files);
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #inTurn(call: () => Promise<void>): Promise<void> {
    const turn = this.#lastCall.then(call);
    this.#lastCall = turn.catch(() => {});
    return turn;
  }

  async #savedFiles(): Promise<FileEntries> {
    if (this.#server === null) return this.#files;
    if (this.#isStopping) return [];
    this.#saving = this.#server;
    try {
      return await this.#saving.closeSaved();
    } finally {
      this.#saving = null;
    }
  }

  async #end(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    this.#figures.fill(0);
    await server?.close();
  }

  async #launch(files: FileEntries): Promise<void> {
    const { host, config, worker, onLog } = this.#options;
    // Kept until the launch has succeeded: after a failed one, restart({ keep: true }) tries again with them.
    this.#files = files;
    const module = compileValkey();
    const figures = new Float64Array(new SharedArrayBuffer(figure.count * Float64Array.BYTES_PER_ELEMENT));
    const spec = { host, port: this.#port, config, files, figures };
    const events: ServerEvents = { onLog, onExit: (error, left) => this.#exited(figures, error, left) };
    const server = worker
      ? await ServerThread.start(spec, module, events, realTimers)
      : await startServer({ ...spec, module: await module }, events);
    this.#server = server;
    this.#figures = figures;
    this.#port = server.port;
    this.#files = [];
  }

  #exited(figures: Float64Array, error: EngineExitedError, files: FileEntries): void {
    if (this.#figures !== figures || this.#server === null) return;
    this.#server = null;
    this.#figures = new Float64Array(figure.count);
    this.#files = files;
    this.emit("exit", error);
  }
}
