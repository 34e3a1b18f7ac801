/** Runs nginx in a folder of its own until the process that started this one lets go or dies; then clears both away. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NginxSetup } from "./nginx.js";

const TEMPLATE = new URL("../../nginx.conf", import.meta.url);

function configurationOf(setup: NginxSetup, runFolder: string): string {
  const servers = setup.serverPorts.map((port) => `server 127.0.0.1:${port} max_fails=1 fail_timeout=1s;`);
  return readFileSync(TEMPLATE, "utf8")
    .replace(/^#.*\n/gm, "")
    .replaceAll("${RUN_FOLDER}", runFolder)
    .replaceAll("${LISTEN}", `127.0.0.1:${setup.port}`)
    .replaceAll("${SERVERS}", servers.join("\n    "));
}

function keep(setup: NginxSetup): void {
  const runFolder = mkdtempSync(join(tmpdir(), "flash-sale-nginx-"));
  const clear = (): void => rmSync(runFolder, { recursive: true, force: true });
  const configurationFile = join(runFolder, "nginx.conf");
  writeFileSync(configurationFile, configurationOf(setup, runFolder));
  const nginx = spawn(setup.program, ["-e", "stderr", "-p", runFolder, "-c", configurationFile], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const letGo = (): void => void nginx.kill("SIGTERM");
  process.on("disconnect", letGo);
  process.on("SIGTERM", letGo);
  nginx.once("error", (error) => {
    process.stderr.write(`${error.message}\n`);
    clear();
    process.exit(1);
  });
  nginx.once("exit", (code) => {
    clear();
    process.exit(code ?? 1);
  });
}

// Ctrl-C reaches the whole process group; the first process ends the sale in order and then lets go.
process.on("SIGINT", () => {});
process.once("message", keep);
