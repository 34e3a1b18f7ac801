/** Reads the state of the server: INFO, HELLO where INFO is not allowed, and CONFIG GET. */
import { type HoldfastError, ServerError } from "../errors.js";
import type { RedisPort, Reply } from "../redis/port.js";

export type Fields = ReadonlyMap<string, string>;

export interface ServerState {
  /** Fields of INFO; null when it could not be read. */
  readonly info: Fields | null;
  /** Settings by name; null when they could not be read. */
  readonly config: Fields | null;
  /** Why INFO had no answer; null when it had one. */
  readonly infoError: HoldfastError | null;
  readonly configError: HoldfastError | null;
}

const SETTINGS = [
  "save",
  "appendfsync",
  "stop-writes-on-bgsave-error",
  "min-replicas-to-write",
  "min-replicas-max-lag",
  "busy-reply-threshold",
  "client-output-buffer-limit",
] as const;

/** Never rejects. */
export async function readServer(port: RedisPort, timeoutMs: number): Promise<ServerState> {
  const [info, settings] = await Promise.all([
    outcomeOf(port.command(["INFO"], timeoutMs)),
    Promise.all(SETTINGS.map((name) => outcomeOf(port.command(["CONFIG", "GET", name], timeoutMs)))),
  ]);
  const refusedInfo = info.error instanceof ServerError && info.error.serverCode === "NOPERM";
  // HELLO needs no permission, and knows a few of the fields.
  const hello = refusedInfo ? await outcomeOf(port.command(["HELLO"], timeoutMs)) : null;
  const configError = settings.find(({ error }) => error)?.error ?? null;
  const config = new Map(settings.flatMap(({ reply }) => (reply === undefined ? [] : entriesOf(reply))));
  return {
    info: info.error ? hello && fieldsOfHello(hello.reply) : fieldsOfInfo(String(info.reply)),
    infoError: info.error,
    config: configError ? null : config,
    configError,
  };
}

interface Outcome {
  readonly reply: Reply | undefined;
  readonly error: HoldfastError | null;
}

export function outcomeOf(call: Promise<Reply>): Promise<Outcome> {
  return call.then(
    (reply) => ({ reply, error: null }),
    (error) => ({ reply: undefined, error: error as HoldfastError }),
  );
}

/** Parses INFO: lines of `name:value`, under headings. */
function fieldsOfInfo(text: string): Fields {
  return new Map(
    text
      .split(/\r?\n/)
      .filter((line) => line.includes(":") && !line.startsWith("#"))
      .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]),
  );
}

/** Parses HELLO into the fields of INFO. */
function fieldsOfHello(reply: unknown): Fields | null {
  const hello = new Map(entriesOf(reply));
  const server = hello.get("server");
  const version = hello.get("version");
  if (!server || !version) return null;
  const fields: [string, string | undefined][] = [
    ["server_name", server],
    [server === "valkey" ? "valkey_version" : "redis_version", version],
    ["redis_mode", hello.get("mode")],
    ["role", hello.get("role") === "replica" ? "slave" : hello.get("role")],
  ];
  return new Map(fields.filter((field): field is [string, string] => field[1] !== undefined));
}

/** Each client returns a map of RESP3 in its own shape: an object, a flat array or a Map. */
function entriesOf(reply: unknown): [string, string][] {
  if (reply instanceof Map) return [...reply].map(([name, value]) => [String(name), String(value)]);
  if (!Array.isArray(reply)) {
    return Object.entries(reply ?? {}).map(([name, value]) => [name, String(value)]);
  }
  return reply.flatMap((item, place) =>
    place % 2 === 0 ? [[String(item), String(reply[place + 1])] as [string, string]] : [],
  );
}
