/**
 * An engine and its TCP front in the current thread. Runs in a worker thread by default (worker.ts).
 */
import type { AddressInfo } from "node:net";
import { ValkeyCore } from "./core.js";
import { type EngineExitedError, SaveError } from "./errors.js";
import { MemoryFiles } from "./memory-files.js";
import { listen, TcpFront } from "./tcp.js";
import { realClock, realTimers, secureRandom } from "./time.js";
import type { ValkeyModule } from "./wasm.js";

export type FileEntries = readonly (readonly [path: string, content: Uint8Array])[];

export interface ServerSpec {
  readonly module: ValkeyModule;
  readonly host: string;
  readonly port: number;
  readonly config: string;
  /** The files on the engine's disk. */
  readonly files: FileEntries;
  /** Figures for onlookers, see `figure`. May be shared with another thread. */
  readonly figures: Float64Array;
}

export interface ServerEvents {
  readonly onLog?: ((line: string) => void) | undefined;
  /** The engine is gone by itself. The port is free again; `files` is what its disk held. */
  onExit(error: EngineExitedError, files: FileEntries): void;
}

/** A running engine, wherever it runs. */
export interface RunningServer {
  readonly port: number;
  /**
   * Ends it with its data in its files, and returns them all. It answers nobody after it has written them. Silent as `close`.
   * @throws {SaveError} it runs on
   */
  closeSaved(): Promise<FileEntries>;
  /** Ends it. Resolves when the port is free. Silent: no exit event. */
  close(): Promise<void>;
}

/** Places in `figures`. */
export const figure = { memoryBytes: 0, connections: 1, passes: 2, count: 3 } as const;

/** @throws {PortInUseError} @throws {ListenError} @throws {BootError} */
export async function startServer(spec: ServerSpec, events: ServerEvents): Promise<RunningServer> {
  // The port comes first: the engine tells its clients the one it was booted with.
  const listener = await listen(spec.host, spec.port);
  const { port } = listener.address() as AddressInfo;
  const clock = realClock();
  const core = new ValkeyCore({
    module: spec.module,
    clock,
    random: secureRandom,
    files: new MemoryFiles(spec.files),
    config: spec.config,
    port,
    ...(events.onLog ? { log: events.onLog } : {}),
  });
  try {
    core.boot();
  } catch (error) {
    await new Promise((resolve) => listener.close(resolve));
    throw error;
  }
  const { figures } = spec;
  const front = new TcpFront(listener, core, realTimers, {
    onTick: () => clock.adjust(),
    onPumped(passes) {
      figures[figure.memoryBytes] = core.memoryBytes;
      figures[figure.connections] = core.connectionCount;
      figures[figure.passes] = (figures[figure.passes] as number) + passes;
    },
    onExited() {
      if (core.exited) events.onExit(core.exited, core.files.entries());
    },
    onProblem: (text) => events.onLog?.(text),
  });
  front.pump();
  return {
    port,
    close: () => front.close(),
    async closeSaved() {
      const files = shutDown(core);
      await front.close();
      return files;
    },
  };
}

/**
 * Through a connection of its own, so it obeys the same rules as anybody's. SAVE alone would be followed by writes of others, in the same
 * pass, which are answered and in no file.
 */
function shutDown(core: ValkeyCore): FileEntries {
  let reply = "";
  const connection = core.connect({
    receive: (bytes) => {
      reply += new TextDecoder().decode(bytes);
    },
  });
  connection.push(new TextEncoder().encode("SHUTDOWN SAVE NOW\r\n"));
  core.pump();
  if (core.exited?.exitCode === 0) return core.files.entries();
  connection.vanish();
  core.pump();
  throw new SaveError(
    `The engine did not save: ${reply.trim() || "no answer"}. Restart without keeping the data, or allow SHUTDOWN to the default user.`,
  );
}
