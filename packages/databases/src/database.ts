/** Database: a server process of a test, its folder, and the end of both. */

import { type ChildProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { launch } from "@holdfast/conformance";

export interface Database {
  /** With the user, who needs no password, and the database `test`. */
  readonly url: string;
  readonly port: number;
  /** Kills the server and removes its folder. */
  stop(): Promise<void>;
}

export const HOST = "127.0.0.1";

/** Whom root lends its right to run to. Nothing for everybody else. */
export interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

/** @param user the one that the server's package made; `nobody` where there is none */
export function accountFor(user: string): Account {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string, name: string) => {
    const { status, stdout } = spawnSync("id", [flag, name], { encoding: "utf8" });
    return status === 0 ? Number(stdout) : undefined;
  };
  const name = idOf("-u", user) === undefined ? "nobody" : user;
  return { uid: idOf("-u", name) ?? 0, gid: idOf("-g", name) ?? 0 };
}

/** A folder of the account's own. */
export function temporaryFolder(account: Account): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-database-"));
  if (account.uid !== undefined) chownSync(folder, account.uid, account.gid ?? account.uid);
  return folder;
}

/** Runs a program to its end. @throws with its output when it fails */
export async function prepare(program: string, args: readonly string[], account: Account): Promise<void> {
  const child = launch(program, args, { ...account, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += chunk));
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${program} ended with ${code}\n${output}`);
}

/** Starts the server and waits for the line of its log that says it is ready. */
export async function serve(
  program: string,
  args: readonly string[],
  how: { readonly account: Account; readonly folder: string; readonly ready: string; readonly url: URL },
): Promise<Database> {
  const child = launch(program, args, {
    ...how.account,
    cwd: how.folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exited = once(child, "exit");
  const kill = () => child.kill("SIGKILL");
  const stop = async () => {
    kill();
    await exited;
    rmSync(how.folder, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    await line(child, how.ready);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: how.url.href, port: Number(how.url.port), stop };
}

function line(child: ChildProcess, ready: string): Promise<void> {
  const log: string[] = [];
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    // Never unread: a server whose log is full stands still.
    const lines = createInterface({ input: child.stderr as NodeJS.ReadableStream });
    lines.on("line", (text) => {
      log.push(text);
      if (text.includes(ready)) resolve();
    });
    lines.on("close", () => reject(new Error(`the server ended before it was ready\n${log.join("\n")}`)));
  });
}
