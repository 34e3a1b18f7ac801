/** The entry of the engine's thread: one server, its events as messages. */
import { parentPort, workerData } from "node:worker_threads";
import { startServer } from "./server.js";
import { type FromWorker, type ToWorker, toWire, type WorkerInput } from "./wire.js";

const input = workerData as WorkerInput;
const owner = parentPort;
if (owner === null) throw new Error("This file is the entry of a worker thread. Use EmbeddedValkey.start().");

const tell = (message: FromWorker) => owner.postMessage(message);

try {
  const server = await startServer(input, {
    onLog: input.isLogWanted ? (line) => tell({ type: "log", line }) : undefined,
    onExit: (error, files) => tell({ type: "exited", error: toWire(error), files }),
  });
  owner.on("message", async (_message: ToWorker) => {
    try {
      tell({ type: "saved", files: await server.save() });
    } catch (error) {
      tell({ type: "notSaved", error: toWire(error) });
    }
  });
  tell({ type: "ready", port: server.port });
} catch (error) {
  tell({ type: "failed", error: toWire(error) });
}
