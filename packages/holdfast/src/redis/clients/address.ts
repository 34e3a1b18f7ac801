/**
 * RedisAddress: what a URL says of a server, read once for every client library. Each library would read the
 * unusual parts in a way of its own, and take what it cannot read for a default: another database, another user.
 */
import { InvalidArgumentError } from "../../errors.js";

export interface RedisAddress {
  readonly tls: boolean;
  /** Without brackets, also for IPv6. */
  readonly host: string;
  readonly port: number;
  /** Null: the default user. */
  readonly username: string | null;
  /** Null: none is sent. */
  readonly password: string | null;
  readonly database: number;
}

const DEFAULT_PORT = 6379;
const FORM = "write it as redis://localhost:6379, rediss://user:password@localhost:6379/0 or the like";

/**
 * Reads a URL as `new Holdfast(url)` does, for a client of your own.
 * @throws {InvalidArgumentError} Its message never has the password.
 */
export function parseRedisUrl(text: string): RedisAddress {
  const url = toUrl(text);
  const tls = url.protocol === "rediss:";
  if (!tls && url.protocol !== "redis:") throw refused(`has the protocol ${url.protocol.slice(0, -1)}`);
  if (url.hostname === "") throw refused("names no host");
  if (url.hostname.includes("%")) throw refused("has a host name that is not ASCII");
  if (url.port === "0") throw refused("has the port 0");
  if (url.search !== "" || url.hash !== "")
    throw refused("has options after ? or #, which a URL cannot give");
  const [username, password] = [decoded("user", url.username), decoded("password", url.password)];
  // No library logs in then, and the default user may do other things than this one.
  if (username !== null && password === null) throw refused("names a user without a password");
  return {
    tls,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? DEFAULT_PORT : Number(url.port),
    username,
    password,
    database: parseDatabase(url.pathname),
  };
}

function toUrl(text: string): URL {
  if (typeof text === "string" && URL.canParse(text)) return new URL(text);
  throw refused("is no URL, or has a port beyond 65535");
}

function parseDatabase(path: string): number {
  if (path === "" || path === "/") return 0;
  // The path is not repeated in the message: it may be one half of a password that has a slash.
  if (!/^\/(0|[1-9]\d{0,8})$/.test(path)) throw refused("has a path that is not the number of a database");
  return Number(path.slice(1));
}

function decoded(what: string, text: string): string | null {
  if (text === "") return null;
  try {
    return decodeURIComponent(text);
  } catch {
    throw refused(`has a ${what} that is not percent-encoded UTF-8`);
  }
}

function refused(problem: string): InvalidArgumentError {
  return new InvalidArgumentError("url", `${problem}: ${FORM}`);
}
