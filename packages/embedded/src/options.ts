/**
 * What `EmbeddedValkey.start()` takes: checked together, once, then frozen.
 */
import { InvalidOptionError } from "./errors.js";

export interface EmbeddedValkeyOptions {
  /** TCP port, 0 to 65535; 0 takes any free one. @default 0 */
  readonly port?: number;
  /** Address to listen on. There is no password by default: keep it on the loopback. @default '127.0.0.1' */
  readonly host?: string;
  /** Most memory for data: bytes, or a number with b, k, kb, m, mb, g or gb; 1mb to 3gb. @default '256mb' */
  readonly maxMemory?: string | number;
  /** Further lines of a valkey.conf. @default none */
  readonly config?: string;
  /** true: in a thread of its own. false: in this thread, which it then shares. @default true */
  readonly worker?: boolean;
  /** Receives the engine's log, line by line. @default dropped */
  readonly onLog?: (line: string) => void;
}

export interface ServerOptions {
  readonly port: number;
  readonly host: string;
  readonly config: string;
  readonly worker: boolean;
  readonly onLog: ((line: string) => void) | undefined;
}

const knownOptions = ["port", "host", "maxMemory", "config", "worker", "onLog"];
const memorySize = /^(\d+)(b|k|kb|m|mb|g|gb)?$/i;
const unitBytes: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  k: 1e3,
  kb: 1024,
  m: 1e6,
  mb: 1024 ** 2,
  g: 1e9,
  gb: 1024 ** 3,
};
const smallestMaxMemory = 1024 ** 2;
const largestMaxMemory = 3 * 1024 ** 3;
const largestPort = 65_535;
/** The engine sizes its table of descriptors by maxclients, and sockets begin at 4096. */
const smallestMaxClients = 4_096;

/** @throws {InvalidOptionError} */
export function readOptions(options: EmbeddedValkeyOptions): ServerOptions {
  if (typeof options !== "object" || options === null) {
    throw new InvalidOptionError("options", `The options are ${shown(options)}. Pass an object, or nothing.`);
  }
  for (const name of Object.keys(options)) {
    if (!knownOptions.includes(name)) {
      throw new InvalidOptionError(
        name,
        `There is no option "${name}". Known are: ${knownOptions.join(", ")}.`,
      );
    }
  }
  const { port = 0, host = "127.0.0.1", maxMemory = "256mb", config = "", worker = true, onLog } = options;
  if (!Number.isInteger(port) || port < 0 || port > largestPort) {
    throw new InvalidOptionError(
      "port",
      `port is ${shown(port)}. Pass an integer from 0 (any free port) to 65535.`,
    );
  }
  if (typeof host !== "string" || host === "") {
    throw new InvalidOptionError("host", `host is ${shown(host)}. Pass an address such as '127.0.0.1'.`);
  }
  if (typeof config !== "string") {
    throw new InvalidOptionError(
      "config",
      `config is ${shown(config)}. Pass lines of a valkey.conf as one string.`,
    );
  }
  checkConfig(config);
  if (typeof worker !== "boolean") {
    throw new InvalidOptionError("worker", `worker is ${shown(worker)}. Pass true or false.`);
  }
  if (onLog !== undefined && typeof onLog !== "function") {
    throw new InvalidOptionError("onLog", `onLog is ${shown(onLog)}. Pass a function that takes a line.`);
  }
  // The limit comes first, so that a line of `config` may replace it.
  return Object.freeze({
    port,
    host,
    config: `maxmemory ${memoryLimit(maxMemory)}\n${config}\n`,
    worker,
    onLog,
  });
}

/** Settings that the engine would accept and then not serve, or that would end it without a useful message. */
function checkConfig(config: string): void {
  if (/^\s*port\s/im.test(config)) {
    throw new InvalidOptionError("config", 'config sets a port of its own. Use the option "port".');
  }
  const maxClients = /^\s*maxclients\s+"?(\d+)/im.exec(config)?.[1];
  if (maxClients !== undefined && Number(maxClients) < smallestMaxClients) {
    throw new InvalidOptionError(
      "config",
      `config sets maxclients to ${maxClients}. The engine starts with ${smallestMaxClients} or more; for fewer, send CONFIG SET maxclients afterwards.`,
    );
  }
}

function memoryLimit(value: unknown): number {
  const match = memorySize.exec(String(value));
  const bytes = match ? Number(match[1]) * (unitBytes[(match[2] ?? "").toLowerCase()] as number) : Number.NaN;
  if (bytes >= smallestMaxMemory && bytes <= largestMaxMemory) return bytes;
  throw new InvalidOptionError(
    "maxMemory",
    `maxMemory is ${shown(value)}. Pass 1mb to 3gb, such as '256mb'.`,
  );
}

function shown(value: unknown): string {
  return typeof value === "string" ? `'${value}'` : String(value);
}
