/**
 * A web server: one process of the cluster that answers at one port. main.ts forks it. It ends by a message, by SIGTERM, or
 * when the first process is gone.
 */
import { upkeepOf } from "../archive/upkeep.js";
import { type FromProgram, proxyOf, readSetup, type ToProgram } from "../setup.js";
import { openDormitory } from "../state/dormitory.js";
import { startWebServer, type WebServer } from "./listen.js";

const setup = readSetup();
const dormitory = openDormitory(setup);
let server: WebServer | null = null;
let isStopping = false;

async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  await server?.stop();
  await dormitory.close();
  process.exit(0);
}

process.once("SIGTERM", () => void stop());
// Ctrl-C reaches every process of the terminal; the first one tells the others when to end.
process.on("SIGINT", () => undefined);
process.once("disconnect", () => void stop());
process.on("message", (message: ToProgram) => {
  if (message.type === "stop") void stop();
});

function tell(message: FromProgram): void {
  process.send?.(message);
}

try {
  server = await startWebServer({
    dormitory,
    upkeep: upkeepOf(dormitory),
    hf: dormitory.hf,
    secret: setup.secret,
    port: setup.port,
    ...proxyOf(setup),
    log: (line) => process.stderr.write(`web ${process.pid}: ${line}\n`),
  });
  tell({ type: "ready", port: server.port });
} catch (error) {
  tell({ type: "failed", message: error instanceof Error ? error.message : String(error) });
}
