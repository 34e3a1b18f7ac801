/**
 * The two commands of the README as somebody meets them who has Node.js, npm, git and a shell, and nothing else: on a copy of the
 * repository, with a PATH of its own and no server. Then with one server, and the suites that would take another.
 */
import { execFile, execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { type ProgramName, program, variableOf } from "@holdfast/conformance";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { servers } from "../servers.ts";

const root = resolve(import.meta.dirname, "../..");
const most = { packages: 230, megabytes: 180 };
/** The suites that start programs or ask for servers, as words of their paths. */
const suites = ["cli/test/lock.test", "elect.test", "command-line.test", "completion.test"];
const ofServers = ["membership", "doctor", "server-errors", "records/record", "client-sentinel"];

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

interface Ended {
  readonly code: number;
  readonly output: string;
}

describe.skipIf(process.platform === "win32")("with Node.js, npm, git and a shell alone", () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bare-"));
  const clone = join(folder, "holdfast");
  const path = join(folder, "bin");

  beforeAll(() => {
    mkdirSync(path);
    const list = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
    const files = execFileSync("git", list, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 }).split("\0");
    for (const file of files) {
      if (file === "" || !existsSync(join(root, file))) continue;
      mkdirSync(dirname(join(clone, file)), { recursive: true });
      cpSync(join(root, file), join(clone, file), { verbatimSymlinks: true });
    }
    symlinkSync(process.execPath, join(path, "node"));
    for (const name of ["npm", "git", "sh"]) symlinkSync(onPath(name), join(path, name));
    for (const args of [
      ["init", "-q"],
      ["add", "-A"],
    ])
      execFileSync("git", args, { cwd: clone });
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Of the caller's environment it has only the cache of npm, so that what is fetched is fetched once. */
  function npm(args: readonly string[], here: readonly ProgramName[] = []): Promise<Ended> {
    const cache = execFileSync("npm", ["config", "get", "cache"], { encoding: "utf8" }).trim();
    const named = servers.map(({ program: name }) => [
      variableOf(name),
      here.includes(name) ? program(name) : "",
    ]);
    const env = { PATH: path, HOME: folder, npm_config_cache: cache, ...Object.fromEntries(named) };
    return new Promise((done) => {
      const options = { cwd: clone, env, maxBuffer: 2 ** 26 };
      execFile(join(path, "npm"), args, options, (error, stdout, stderr) => {
        done({ code: error === null ? 0 : Number(error.code ?? -1), output: `${stdout}${stderr}` });
      });
    });
  }

  test("npm start ends with 0, and installs what the sale needs", async () => {
    const { code, output } = await npm(["start"]);
    expect(code, output).toBe(0);
    expect(output).toMatch(/installing what examples\/flash-sale needs .*about \d+ s/);
    expect(output).toMatch(/compiling, about \d+ s/);
    expect(output).toMatch(/atomic script +200 +0 /);
    expect(output).toContain("Read next: ");
    const modules = join(clone, "node_modules");
    const lock = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8"));
    const places = Object.entries<{ link?: boolean }>(lock.packages).filter(
      ([place, { link }]) => !link && place.includes("node_modules/"),
    );
    expect(places.length).toBeLessThanOrEqual(most.packages);
    expect(megabytesOf(modules)).toBeLessThanOrEqual(most.megabytes);
  });

  test("npm test adds the rest, passes, and counts what it left out by reason", async () => {
    const { code, output } = await npm(["test", "--", ...suites, ...ofServers]);
    expect(code, output).toBe(0);
    expect(output).toContain("installing the rest, beside what is there");
    expect(output).toMatch(/left out: \d+\n +\d+ {2}no .* \(apt-get install .*\)\n/);
    expect(output).not.toContain("no reason given");
  });

  test.each([["redis-server"], ["valkey-server"]] as const)(
    "npm test passes with %s alone",
    async (server) => {
      const { code, output } = await npm(["test", "--", ...ofServers], [server]);
      expect(code, output).toBe(0);
      expect(output).not.toMatch(new RegExp(`no ${server}( \\(|$)`, "m"));
    },
  );
});

function onPath(name: string): string {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.map((each) => join(each, name)).find(existsSync) ?? name;
}

function megabytesOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  return (
    files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0) / 2 ** 20
  );
}
