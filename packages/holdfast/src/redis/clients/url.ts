/** A client of our own for a URL, with whichever library is installed. */
import { createRequire } from "node:module";
import { ClientNotInstalledError } from "../../errors.js";
import type { RedisClient } from "../client.js";
import { parseRedisUrl } from "./address.js";
import { type Library, open } from "./open.js";

/** In the order in which they are looked for. */
const LIBRARIES: readonly Library[] = ["ioredis", "redis", "iovalkey", "@valkey/valkey-glide"];

/** @throws {InvalidArgumentError} @throws {ClientNotInstalledError} */
export function openClient(url: string): RedisClient {
  const address = parseRedisUrl(url);
  const load = loader();
  for (const name of LIBRARIES) {
    const library = load && tryLoad(load, name);
    if (library) return open(name, library as never, address);
  }
  throw new ClientNotInstalledError(
    "a URL needs a client library, and none was found: npm install ioredis (or redis, iovalkey, @valkey/valkey-glide); " +
      "in a bundle, pass a client instead of a URL",
  );
}

/**
 * A library is loaded at run time from the user's installation, so that none is a dependency and no bundler follows it. Null: a bundle
 * may have no file name or no URL of a file, and then there is no place to look from.
 */
function loader(): NodeJS.Require | null {
  try {
    return import.meta.url ? createRequire(import.meta.url) : null;
  } catch {
    return null;
  }
}

function tryLoad(load: NodeJS.Require, name: string): unknown {
  try {
    return load(name);
  } catch (error) {
    if ((error as { code?: string }).code === "MODULE_NOT_FOUND") return null;
    throw error;
  }
}
