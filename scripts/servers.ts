/**
 * The real servers that some suites need, and where they are.
 *
 * vitest.config.ts hands the paths to the suites: `describe.skipIf(!process.env.HOLDFAST_REDIS_SERVER)`.
 */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

export interface Server {
  /** Program name, as it is found on PATH. */
  readonly program: string;
  /** Environment variable that carries its path to the suites; empty when there is none. */
  readonly variable: string;
  /** What does not run without it. */
  readonly suites: string;
  /** How to get it on Debian and Ubuntu. */
  readonly install: string;
}

export const servers: readonly Server[] = [
  {
    program: "redis-server",
    variable: "HOLDFAST_REDIS_SERVER",
    suites: "everything against a real redis-server",
    install: "apt-get install redis-server",
  },
  {
    program: "nginx",
    variable: "HOLDFAST_NGINX",
    suites: "flash sale behind nginx",
    install: "apt-get install nginx-light",
  },
];

/** Path of each server by its variable: what the caller has set (also to nothing) wins, then PATH. */
export function findServers(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    servers.map(({ program, variable }) => [variable, env[variable] ?? onPath(program, env.PATH ?? "")]),
  );
}

/** Debian keeps daemons in sbin folders, which are not on every user's PATH. */
function onPath(program: string, path: string): string {
  const folders = [...path.split(delimiter), "/usr/sbin", "/usr/local/sbin"];
  return (
    folders
      .filter((folder) => folder !== "")
      .map((folder) => join(folder, program))
      .find(executable) ?? ""
  );
}

function executable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
