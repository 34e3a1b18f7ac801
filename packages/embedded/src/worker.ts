/** The entry of the engine's thread: one server, its events as messages. */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { type RunningServer, startServer } from "./server.js";
import type { ValkeyModule } from "./wasm.js";
import { type FromWorker, type ToWorker, toWire, type WorkerInput } from "./wire.js";

const input = workerData as WorkerInput;
const owner = parentPort;
if (owner === null) throw new Error("This file is the entry of a worker thread. Use EmbeddedValkey.start().");

let server: RunningServer | undefined;

const tell = (message: FromWorker) => owner.postMessage(message);

owner.on("message", (message: ToWorker) => {
  if (message.type === "start") void start(message.module);
  else if (message.type === "closeSaved") void closeSaved();
});

async function start(module: ValkeyModule): Promise<void> {
  try {
    server = await startServer(
      { ...input, module },
      {
        onLog: input.isLogWanted ? (line) => tell({ type: "log", line }) : undefined,
        onExit: (error, files) => tell({ type: "exited", error: toWire(error), files }),
      },
    );
    tell({ type: "ready", port: server.port });
  } catch (error) {
    tell({ type: "failed", error: toWire(error) });
  }
}

async function closeSaved(): Promise<void> {
  // A script may have kept this thread from hearing it until the owner has given up.
  if ((receiveMessageOnPort(owner as MessagePort)?.message as ToWorker | undefined)?.type === "abandonSave")
    return;
  try {
    tell({ type: "saved", files: (await server?.closeSaved()) ?? [] });
  } catch (error) {
    tell({ type: "notSaved", error: toWire(error) });
  }
}
