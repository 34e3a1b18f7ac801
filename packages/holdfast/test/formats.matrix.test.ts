/** The package as it is published, imported and required, also both in one process. */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { EmbeddedValkey } from "@holdfast/embedded";
import * as imported from "holdfast";
import { expect, inject, onTestFinished, test } from "vitest";

const run = promisify(execFile);
/** Not through vitest, which takes the sources for the name of the package. */
const required = createRequire(import.meta.url)("holdfast") as typeof imported;

test("the package could be bundled", () => expect(inject("bundleFailure")).toBe(""));

test.each([
  ["required", required, imported],
  ["imported", imported, required],
])("an error of the %s copy is recognised by the other", (_, one, other) => {
  expect(other.ClosedError).not.toBe(one.ClosedError);
  const thrown = new one.ServerError("WRONGTYPE x");
  expect(thrown).toBeInstanceOf(other.HoldfastError);
  expect(thrown).toBeInstanceOf(other.ServerError);
  expect(thrown).not.toBeInstanceOf(other.ClosedError);
});

test("a class has the name by which it is exported", () => {
  for (const [name, value] of Object.entries(required)) {
    if (/^[A-Z]/.test(name)) expect(value).toHaveProperty("name", name);
  }
});

test("a class of the user is no other class, and what is no error of holdfast is none", () => {
  class Refused extends imported.ServerError {}
  expect(new Refused("OOM x")).toBeInstanceOf(required.ServerError);
  expect(new required.ServerError("OOM x")).not.toBeInstanceOf(Refused);
  for (const other of [null, undefined, "x", new Error("x"), { code: "CLOSED" }]) {
    expect(other).not.toBeInstanceOf(imported.HoldfastError);
    expect(other).not.toBeInstanceOf(imported.ClosedError);
  }
});

test("the middleware of one copy says so when it is given what the other has made", async () => {
  const { rateLimit } = await import("holdfast/middleware/fetch");
  const [hf, other] = [imported, required].map(({ Holdfast }) => new Holdfast("redis://127.0.0.1:1"));
  onTestFinished(async () => void (await Promise.all([hf?.close(), other?.close()])));
  const limit = other?.limit("api", { max: 1, per: "1m" });
  const guard = other?.guard("abuse", { hits: 2, per: "10s", penalties: [{ kind: "busy", for: "15s" }] });
  const common = { address: () => "192.0.2.1" };
  const given: readonly (readonly [unknown, object])[] = [
    [hf, { limits: limit }],
    [hf, { limits: [{ limit }] }],
    [hf, { guard }],
    [hf, { guard: { guard } }],
    [other, { limits: hf?.limit("api", { max: 1, per: "1m" }) }],
  ];
  for (const [owner, options] of given) {
    expect(() => rateLimit(owner as imported.Holdfast, { ...common, ...options } as never)).toThrow(
      /another copy of holdfast.*import both, or require both/,
    );
  }
});

const PROGRAM = `
  const { readFileSync } = require("node:fs");
  const url = process.argv[1];
  (async () => {
    const manifest = JSON.parse(readFileSync(require.resolve("holdfast/package.json"), "utf8"));
    for (const path of Object.keys(manifest.exports)) {
      const name = "holdfast" + path.slice(1);
      if (name.endsWith(".json")) continue;
      const [esm, cjs] = [await import(name), require(name)];
      const missing = Object.keys(esm).filter((key) => !(key in cjs));
      if (missing.length > 0 || Object.keys(esm).length === 0) console.log(name, missing);
    }
    const both = [require("holdfast"), await import("holdfast")];
    console.log(both[0].Holdfast !== both[1].Holdfast);
    for (const { Holdfast } of both) {
      const hf = new Holdfast(url, { callTimeout: "30s" });
      const lease = await hf.mutex("name").acquire();
      await hf.limit("api", { max: 1, per: "1m" }).take("me");
      console.log(await lease.release(), (await (await hf.inspector()).lock("name")) !== null);
      console.log((await hf.doctor()).findings.length > 0);
      await hf.close();
    }
  })();
`;

test("every entry is imported and required, and both open a URL, inspect and examine", async () => {
  const server = await EmbeddedValkey.start();
  onTestFinished(() => server.stop());
  const { stdout } = await run(process.execPath, ["--eval", PROGRAM, server.url], {
    cwd: import.meta.dirname,
  });
  expect(stdout.trim().split("\n")).toEqual(["true", "released true", "true", "released true", "true"]);
});

/** Classes, functions and types of several entries, as a program of a user names them. */
const TYPED = `
  import { ClosedError, Holdfast, type Lease, ServerError } from "holdfast";
  import { Locks } from "holdfast/locks";
  import { parseLock } from "holdfast/locks/redis";
  import { TokenFence } from "holdfast/fencing/sql";
  import { rateLimit } from "holdfast/middleware/hono";
  import { Hono } from "hono";
  export class Refused extends ServerError {}
  export const hf = new Holdfast("redis://localhost");
  export const app = new Hono().use(rateLimit(hf, { limits: hf.limit("api", { max: 1, per: "1m" }) }));
  export const made: readonly unknown[] = [Locks, parseLock, TokenFence];
  export async function held(): Promise<Lease> {
    const lease: Lease = await hf.mutex("name").acquire();
    // @ts-expect-error a token is a bigint
    const fence: string = lease.fence;
    const thrown: unknown = fence;
    if (thrown instanceof ClosedError) console.log(thrown.code satisfies "CLOSED");
    return lease;
  }
`;

test.each([
  ["an ES module", "main.mts", "node16"],
  ["a CommonJS module", "main.cts", "node16"],
  ["a module that is bundled", "main.mts", "preserve"],
])("the declarations are complete for %s", async (_, file, module) => {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-typed-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const modules = join(import.meta.dirname, "../../../node_modules");
  await symlink(modules, join(folder, "node_modules"), "junction");
  await writeFile(join(folder, file), TYPED);
  const compilerOptions = { module, target: "es2022", lib: ["es2023", "esnext.disposable"], types: ["node"] };
  const settings = { compilerOptions: { ...compilerOptions, strict: true, noEmit: true }, files: [file] };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(settings));
  const compiler = join(modules, "typescript/bin/tsc");
  const { stdout } = await run(process.execPath, [compiler, "-p", folder]).catch((error) => error);
  expect(stdout).toBe("");
});

test("what declarations tell the compiler is published with them", async () => {
  const dist = join(import.meta.dirname, "../dist");
  const files = await readdir(dist, { recursive: true });
  const directives = async (file: string): Promise<string[]> =>
    (await readFile(join(dist, file), "utf8")).match(/^\/\/\/ <.*>$|^\/\*\* @ts-.*$/gm) ?? [];
  const published = files.filter((file) => /\.d\.[cm]ts$/.test(file));
  const pairs = published.map(async (file) => ({
    file,
    written: await directives(file.replace(/\.d\.[cm]ts$/, ".d.ts")),
    published: await directives(file),
  }));
  for (const pair of await Promise.all(pairs)) expect(pair.published, pair.file).toEqual(pair.written);
});

/** For the nouns of today: ADR 0013 says what each costs. A new one may raise it, and nothing else. */
const MAX_UNPACKED = 1_620_000;

test("the package is no larger than its nouns need", async () => {
  const options = { cwd: join(import.meta.dirname, ".."), shell: process.platform === "win32" };
  const { stdout } = await run("npm", ["pack", "--dry-run", "--json"], options);
  expect(JSON.parse(stdout)[0].unpackedSize).toBeLessThan(MAX_UNPACKED);
});
