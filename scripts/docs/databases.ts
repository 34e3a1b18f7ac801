/** Databases for the programs of the documentation that say `needs=…`; each program has a new one. */
import { type ProgramName, variableOf } from "@holdfast/conformance";
import { type Database, startMariaDb, startPostgres } from "@holdfast/databases";
import { findServers, servers } from "../servers.ts";
import type { Program } from "./blocks.ts";

const kinds: Readonly<
  Record<string, { program: ProgramName; address: string; start: (program: string) => Promise<Database> }>
> = {
  postgres: { program: "postgres", address: "POSTGRES_URL", start: startPostgres },
  mariadb: { program: "mariadbd", address: "MYSQL_URL", start: startMariaDb },
};

export interface DocsDatabases {
  /** The variables by which a program finds them. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

function needsOf({ blocks }: Program): string[] {
  return [...new Set(blocks.flatMap(({ needs }) => (needs === undefined ? [] : [needs])))];
}

/** Why a program cannot run here; undefined when it can. @throws for a word that names no database */
export function missingFor(program: Program): string | undefined {
  const found = findServers(process.env);
  for (const need of needsOf(program)) {
    const kind = kinds[need];
    if (kind === undefined) {
      const place = `${program.last.file}:${program.last.line}`;
      throw new Error(`${place} needs=${need}: use ${Object.keys(kinds).join(" or ")}`);
    }
    const server = servers.find(({ program: name }) => name === kind.program);
    if (!found[variableOf(kind.program)]) return `needs ${need} (${server?.install})`;
  }
  return undefined;
}

export async function startDatabases(program: Program): Promise<DocsDatabases> {
  const found = findServers(process.env);
  const started: Database[] = [];
  const env: Record<string, string> = {};
  const stop = async () => {
    for (const database of started) await database.stop();
  };
  try {
    for (const need of needsOf(program)) {
      const kind = kinds[need];
      if (kind === undefined) continue;
      const database = await kind.start(found[variableOf(kind.program)] ?? "");
      started.push(database);
      env[kind.address] = database.url;
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { env, stop };
}
