/**
 * The owner's side of the engine's thread.
 *
 * Ending it needs no cooperation: an engine inside an endless script hears no message, but its thread
 * can be terminated, and its sockets go with it.
 */
import { Worker } from "node:worker_threads";
import { EngineExitedError, NotRunningError, SaveError } from "./errors.js";
import type { FileEntries, RunningServer, ServerEvents, ServerSpec } from "./server.js";
import type { Timers } from "./time.js";
import type { ValkeyModule } from "./wasm.js";
import { type FromWorker, fromWire, type ToWorker, type WorkerInput } from "./wire.js";

type ThreadSpec = Omit<ServerSpec, "module">;

const saveTimeoutMs = 30_000;

interface Settlers<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

export class ServerThread implements RunningServer {
  port = 0;
  readonly #worker: Worker;
  readonly #events: ServerEvents;
  readonly #timers: Timers;
  #start: Settlers<ServerThread> | null = null;
  #save: Settlers<FileEntries> | null = null;
  #isOver = false;

  private constructor(spec: ThreadSpec, events: ServerEvents, timers: Timers) {
    this.#events = events;
    this.#timers = timers;
    const workerData: WorkerInput = { ...spec, isLogWanted: events.onLog !== undefined };
    this.#worker = new Worker(new URL("./worker.js", import.meta.url), {
      name: "holdfast-embedded",
      workerData,
      // Flags of the owner, such as loaders or an inspector, are not meant for the engine.
      execArgv: [],
    });
    this.#worker.on("message", (message: FromWorker) => this.#hear(message));
    this.#worker.on("error", (cause) =>
      this.#end(
        new EngineExitedError(`The engine's thread failed: ${cause.message}. Restart it.`, null, { cause }),
      ),
    );
    this.#worker.on("exit", (code) =>
      this.#end(new EngineExitedError(`The engine's thread ended with code ${code}. Restart it.`, null)),
    );
  }

  /** The thread starts up while the module is still being compiled. */
  static start(
    spec: ThreadSpec,
    module: Promise<ValkeyModule>,
    events: ServerEvents,
    timers: Timers,
  ): Promise<ServerThread> {
    const thread = new ServerThread(spec, events, timers);
    module.then(
      (compiled) => thread.#tell({ type: "start", module: compiled }),
      (error: Error) => thread.#end(error),
    );
    return new Promise((resolve, reject) => {
      thread.#start = { resolve, reject };
    });
  }

  async closeSaved(): Promise<FileEntries> {
    const stopWaiting = this.#timers.after(saveTimeoutMs, () => {
      this.#tell({ type: "abandonSave" });
      this.#save?.reject(
        new SaveError(
          `The engine did not answer within ${saveTimeoutMs} ms; a script may run without end. Restart without keeping the data.`,
        ),
      );
    });
    try {
      return await new Promise<FileEntries>((resolve, reject) => {
        this.#save = { resolve, reject };
        this.#tell({ type: "closeSaved" });
      });
    } finally {
      this.#save = null;
      stopWaiting();
    }
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#worker.terminate();
    this.#save?.reject(new NotRunningError("The engine was stopped before it had saved its data."));
  }

  #tell(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #hear(message: FromWorker): void {
    switch (message.type) {
      case "ready":
        this.port = message.port;
        this.#start?.resolve(this);
        this.#start = null;
        break;
      case "failed":
        this.#end(fromWire(message.error));
        break;
      case "exited":
        this.#end(fromWire(message.error), message.files);
        break;
      case "log":
        if (!this.#isOver) this.#events.onLog?.(message.line);
        break;
      case "saved":
        // It had begun when its owner gave up.
        if (this.#save === null)
          this.#end(
            new EngineExitedError("The engine has saved its data and ended. Restart it.", 0),
            message.files,
          );
        else this.#save.resolve(message.files);
        break;
      case "notSaved":
        this.#save?.reject(fromWire(message.error));
        break;
    }
  }

  /** Whatever ended it, its owner hears of it once, and after the thread is really gone. */
  #end(error: Error, files: FileEntries = []): void {
    if (this.#isOver) return;
    void this.close().then(() => {
      if (this.#start !== null) this.#start.reject(error);
      else this.#events.onExit(error as EngineExitedError, files);
    });
  }
}
