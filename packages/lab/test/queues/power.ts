/** A server on a machine that loses power: what it had not synced is gone. */
import { spawnSync } from "node:child_process";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ServerProcess } from "@holdfast/conformance";

export interface PowerTerms {
  readonly program: string;
  readonly fsync: "always" | "everysec";
}

export class PoweredServer {
  readonly server: ServerProcess;
  readonly #folder: string;
  readonly #synced: string;

  private constructor(server: ServerProcess, folder: string, synced: string) {
    this.server = server;
    this.#folder = folder;
    this.#synced = synced;
  }

  static async start({ program, fsync }: PowerTerms): Promise<PoweredServer> {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-power-"));
    const [library, synced] = [join(folder, "sync-shim.so"), join(folder, "synced")];
    const source = resolve(import.meta.dirname, "sync-shim.c");
    const { status, stderr } = spawnSync("gcc", ["-O2", "-shared", "-fPIC", "-o", library, source], {
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`gcc failed: ${stderr}`);
    writeFileSync(synced, Buffer.alloc(8));
    const server = await ServerProcess.start({
      program,
      options: ["--appendonly", "yes", "--appendfsync", fsync, "--auto-aof-rewrite-percentage", "0"],
      env: { LD_PRELOAD: library, SYNC_SHIM_FILE: synced },
    });
    return new PoweredServer(server, folder, synced);
  }

  /** The power goes, and comes back. Returns how many bytes of what was written are lost. */
  async cut(): Promise<number> {
    await this.server.kill();
    const files = join(this.server.folder, "appendonlydir");
    const name = readdirSync(files).find((each) => each.endsWith(".incr.aof"));
    if (name === undefined) throw new Error(`no append-only file in ${files}`);
    const file = join(files, name);
    const syncedBytes = Number(readFileSync(this.#synced).readBigInt64LE(0));
    const lostBytes = statSync(file).size - syncedBytes;
    truncateSync(file, syncedBytes);
    await this.server.launch();
    return lostBytes;
  }

  async stop(): Promise<void> {
    await this.server.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
