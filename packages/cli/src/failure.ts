/** A failure for the user of the command: one line, a remedy, an exit code. */
import { CommanderError } from "commander";
import { EXIT } from "./exit-codes.js";

/** Known to this program, with its own exit code. */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly exitCode: number;
  readonly code: string;

  constructor(code: string, exitCode: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.exitCode = exitCode;
  }
}

/** By the `code` of an error of holdfast or of its embedded engine: neither is loaded for a usage error. */
const EXIT_BY_CODE: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: EXIT.usage,
  INVALID_OPTION: EXIT.usage,
  ACQUIRE_TIMEOUT: EXIT.busy,
  INDETERMINATE: EXIT.unavailable,
  UNAVAILABLE: EXIT.unavailable,
  SERVER_ERROR: EXIT.unavailable,
  NO_QUORUM: EXIT.unavailable,
  NOT_VOTING: EXIT.unavailable,
  LEASE_LOST: EXIT.lost,
  DELIVERY_LOST: EXIT.lost,
  RESULT_NOT_STORED: EXIT.unavailable,
  ONCE_FAILED: EXIT.no,
  QUEUE_FULL: EXIT.busy,
  ORDER_MISMATCH: EXIT.usage,
  PORT_IN_USE: EXIT.unavailable,
  LISTEN_FAILED: EXIT.unavailable,
};

/** The library names its own arguments; who typed the command knows their flags. */
const FLAG_BY_ARGUMENT: Readonly<Record<string, string>> = {
  name: "NAME",
  key: "KEY",
  pattern: "PATTERN",
  value: "VALUE",
  data: "DATA",
  body: "BODY",
  "bodies[0]": "BODY",
  delay: "--delay",
  "dedupe.id": "--dedupe",
  "dedupe.for": "--dedupe-for",
  count: "--count",
  lane: "LANE",
  ticket: "TICKET",
  tickets: "TICKET",
  "tickets[0]": "TICKET",
  every: "--interval",
  "limit.inFlight": "MOST",
  ids: "ID",
  "ids[0]": "ID",
  after: "--after",
  version: "--if-version",
  tag: "--tag",
  keep: "--keep",
  target: "TARGET",
  max: "--max",
  per: "--per",
  burst: "--burst",
  cost: "--cost",
  prefix: "--prefix",
  label: "--label",
  ttl: "--ttl",
  wait: "--wait",
  callTimeout: "--timeout",
  maxTtl: "--max-ttl",
  quarantine: "--quarantine",
  host: "--host",
  port: "--port",
  maxMemory: "--max-memory",
};

export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof Failure) return error.exitCode;
  return EXIT_BY_CODE[codeOf(error)] ?? EXIT.broken;
}

export function codeOf(error: unknown): string {
  if (error instanceof CommanderError) return "USAGE";
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "UNEXPECTED";
}

/** The message; with the stack if the program itself is at fault. */
export function toldOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (codeOf(error) === "USAGE" && (error as CommanderError).code === "commander.help")
    return "a command is missing";
  const exitCode = exitCodeOf(error);
  if (exitCode === EXIT.broken) return error.stack ?? error.message;
  const { argument, option = argument } = error as { argument?: string; option?: string };
  const told = error.message.replace(/^error: /, "");
  if (exitCode === EXIT.usage && option !== undefined)
    return told.replace(option, FLAG_BY_ARGUMENT[option] ?? option);
  // Other texts name arguments between quotes.
  return told.replaceAll(/["`](\w+)["`]/g, (quoted, name) => FLAG_BY_ARGUMENT[name] ?? quoted);
}
