/** A client of our own for a URL, with whichever library is installed. */
import { createRequire } from "node:module";
import { ClientNotInstalledError, InvalidArgumentError } from "../../errors.js";
import { Part } from "../../part.js";
import type { RedisClient } from "../client.js";
import type { Library } from "./open.js";

/** In the order in which they are looked for. */
const LIBRARIES: readonly Library[] = ["ioredis", "redis", "iovalkey", "@valkey/valkey-glide"];

export const opener = new Part(() => import("./open.js"));

/**
 * Opens when it is first used.
 * @throws {InvalidArgumentError} @throws {ClientNotInstalledError}
 */
export function openClient(url: string): Part<RedisClient> {
  checkUrl(url);
  // Loaded at run time from the user's installation, so that no library is a dependency and a bundler
  // does not try to follow it.
  const load = createRequire(import.meta.url);
  for (const name of LIBRARIES) {
    const library = tryLoad(load, name);
    if (library) return opener.made(({ open }) => open(name, library as never, url));
  }
  throw new ClientNotInstalledError(
    `a URL needs a client library, and none is installed: npm install ioredis (or ${LIBRARIES.slice(1).join(", ")})`,
  );
}

function checkUrl(url: string): void {
  const protocol = URL.canParse(url) ? new URL(url).protocol : null;
  if (protocol === "redis:" || protocol === "rediss:") return;
  const found = protocol === null ? "is no URL" : `has the protocol ${protocol}`;
  throw new InvalidArgumentError("url", `${found}: write it as redis:// or rediss://localhost:6379`);
}

function tryLoad(load: NodeJS.Require, name: string): unknown {
  try {
    return load(name);
  } catch (error) {
    if ((error as { code?: string }).code === "MODULE_NOT_FOUND") return null;
    throw error;
  }
}
