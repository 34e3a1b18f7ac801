/** ServerProcess: a real Redis or Valkey, started for a test on a free port of the loopback, in a folder of its own. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "./free-port.js";
import { launch } from "./launched.js";
import { atExit } from "./leftovers.js";
import { within } from "./wait.js";

export interface ServerTerms {
  /** Path of redis-server or valkey-server. */
  readonly program: string;
  /** Further options, as on its command line. */
  readonly options?: readonly string[];
  /** The line of its log that says that it can be asked. @default when it accepts connections */
  readonly ready?: RegExp;
  /** A node of a cluster that has met no other and serves no slot. @default false */
  readonly cluster?: boolean;
  /** A program that starts it, with its arguments: `ip netns exec NAME`. It must become the server, not wait for it. */
  readonly by?: readonly string[];
  /** Variables of its environment, beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Its port speaks TLS with these files. @default plain text */
  readonly tls?: { readonly certFile: string; readonly keyFile: string; readonly caFile: string };
}

const HOST = "127.0.0.1";
const READY = /Ready to accept connections/;
const LOG_TAIL = 10;

export class ServerProcess {
  readonly host = HOST;
  readonly port: number;
  /** Its working folder, removed by `stop()`. */
  readonly folder: string;
  readonly #program: string;
  readonly #options: readonly string[];
  readonly #by: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  readonly #forget: () => void;
  #child: ChildProcess | null = null;

  private constructor(port: number, { program, options = [], by = [], env = {}, tls }: ServerTerms) {
    this.port = port;
    this.folder = mkdtempSync(join(tmpdir(), "holdfast-server-"));
    this.#forget = atExit(() => this.#remove());
    this.#program = program;
    this.#by = by;
    this.#env = env;
    const encrypted = tls && [
      ...[
        "--port",
        "0",
        "--tls-port",
        String(port),
        "--tls-auth-clients",
        "no",
        "--tls-ca-cert-file",
        tls.caFile,
      ],
      ...["--tls-cert-file", tls.certFile, "--tls-key-file", tls.keyFile],
    ];
    this.#options = [
      ...(encrypted ?? ["--port", String(port)]),
      ...["--bind", HOST, "--dir", this.folder, "--save", "", "--appendonly", "no"],
      ...options,
    ];
  }

  /** Resolves when it is ready. */
  static async start(terms: ServerTerms): Promise<ServerProcess> {
    const bus = terms.cluster ? ["--cluster-enabled", "yes", "--cluster-port", String(await freePort())] : [];
    const options = [...bus, ...(terms.options ?? [])];
    const server = new ServerProcess(await freePort(), { ...terms, options });
    try {
      await server.launch(terms.ready);
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  /** Starts it anew after `kill()`, in the same folder. */
  async launch(ready: RegExp = READY): Promise<void> {
    const [first = "", ...rest] = [...this.#by, this.#program, ...this.#options];
    const env = { ...process.env, ...this.#env };
    const child = launch(first, rest, { env, stdio: ["ignore", "pipe", "ignore"] });
    this.#child = child;
    const log: string[] = [];
    const isReady = new Promise<void>((resolve, reject) => {
      child.on("error", reject);
      child.on("exit", () => reject(new Error(`${this.#program} ended: ${log.slice(-LOG_TAIL).join("\n")}`)));
      createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
        log.push(line);
        if (ready.test(line)) resolve();
      });
    });
    await within(isReady, `${this.#program} is ready`);
  }

  /** SIGSTOP: stands still, with its connections open. */
  freeze(): void {
    this.#child?.kill("SIGSTOP");
  }

  /** SIGCONT. */
  thaw(): void {
    this.#child?.kill("SIGCONT");
  }

  /** SIGKILL; resolves when the process is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  async stop(): Promise<void> {
    await this.kill();
    this.#forget();
    this.#remove();
  }

  #remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
