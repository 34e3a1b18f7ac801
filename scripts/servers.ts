/**
 * The real servers, shells and tools that some suites need, and where they are. vitest.config.ts hands their paths to the suites,
 * which ask for them by `program` and `needing` of @holdfast/conformance.
 */
import { accessSync, constants, existsSync, readdirSync, statSync } from "node:fs";
import { basename, delimiter, join, resolve } from "node:path";
import { type ProgramName, variableOf } from "@holdfast/conformance";

export interface Server {
  readonly program: ProgramName;
  /** The one system on which the suites use it. @default every one */
  readonly platform?: NodeJS.Platform;
  /** What does not run without it. */
  readonly suites: string;
  /** How to get it on Debian and Ubuntu. */
  readonly install: string;
}

export const servers: readonly Server[] = [
  {
    program: "redis-server",
    suites: "everything against a real redis-server",
    install: "apt-get install redis-server",
  },
  {
    program: "valkey-server",
    suites: "the conformance suite against a real valkey-server",
    install: "bash .ci/valkey",
  },
  {
    program: "openssl",
    suites: "everything over TLS",
    install: "apt-get install openssl",
  },
  {
    program: "nginx",
    suites: "flash sale behind nginx",
    install: "apt-get install nginx-light",
  },
  {
    program: "postgres",
    suites: "everything against a real PostgreSQL",
    install: "apt-get install postgresql",
  },
  {
    program: "mariadbd",
    suites: "everything against a real MariaDB",
    install: "apt-get install mariadb-server",
  },
  {
    program: "zsh",
    suites: "completion in zsh",
    install: "apt-get install zsh",
  },
  {
    program: "fish",
    suites: "completion in fish",
    install: "apt-get install fish",
  },
  {
    program: "bash",
    suites: "completion in bash",
    install: "apt-get install bash",
  },
  {
    program: "script",
    platform: "linux",
    suites: "the command on a terminal",
    install: "apt-get install bsdutils",
  },
  {
    program: "gcc",
    platform: "linux",
    suites: "processes whose clock is set, disks that lose power",
    install: "apt-get install gcc libc6-dev",
  },
];

/** A variable names something that cannot be run. */
export class NoProgram extends Error {}

/** Path of each server by its variable: what the caller has set (also to nothing) wins, then PATH, then the cache. */
export function findServers(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    servers.map(({ program, platform = process.platform }) => {
      const variable = variableOf(program);
      if (platform !== process.platform) return [variable, ""];
      const named = env[variable];
      const path = named === undefined ? lookUp(program, env) : asNamed(named, env);
      if (named && path === "") throw new NoProgram(`${variable}=${named} is no program`);
      return [variable, path];
    }),
  );
}

/** As a shell reads it: a bare name is looked up, anything else is a path. */
function asNamed(named: string, env: NodeJS.ProcessEnv): string {
  if (named === "") return "";
  if (basename(named) === named) return lookUp(named, env);
  const file = resolve(named);
  return executable(file) ? file : "";
}

/** Debian keeps daemons where not every user's PATH looks: in sbin folders, and PostgreSQL in one for each version. */
function lookUp(program: string, env: NodeJS.ProcessEnv): string {
  const folders = [...(env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin", cacheFolder(env)];
  if (program === "postgres") folders.push(...postgresFolders());
  return (
    folders
      .filter((folder) => folder !== "")
      .map((folder) => join(folder, program))
      .find(executable) ?? ""
  );
}

/** The newest first. */
function postgresFolders(): string[] {
  const base = "/usr/lib/postgresql";
  if (!existsSync(base)) return [];
  const versions = readdirSync(base).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(base, version, "bin"));
}

/** Where the scripts under .ci put what they unpack. */
function cacheFolder({ XDG_CACHE_HOME, HOME }: NodeJS.ProcessEnv): string {
  const base = XDG_CACHE_HOME || (HOME ? join(HOME, ".cache") : "");
  return base && join(base, "holdfast");
}

function executable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
