/** A bundled holdfast runs: with its chunks apart, all in one file, and as CommonJS. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { EmbeddedValkey } from "@holdfast/embedded";
import { type BuildOptions, build } from "esbuild";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

const MODULES = resolve(import.meta.dirname, "../../node_modules");
const run = promisify(execFile);

/** Waits, hands over, renews, is refused, and looks: all code is needed. */
const PROGRAM = `
import { Redis } from "ioredis";
import { Holdfast, ServerError } from "holdfast";
(async () => {
  const redis = new Redis(process.argv[2]);
  const [one, two] = [new Holdfast(redis), new Holdfast(redis)];
  // Its first renewal comes after a third of this, and a busy machine has the rest for it.
  const lease = await one.mutex("name", { ttl: 3_000 }).acquire();
  const waiting = two.mutex("name", { ttl: 3_000 }).acquire();
  await new Promise((resolve) => setTimeout(resolve, 1_300));
  lease.check();
  await lease.release();
  const next = await waiting;
  await two.record("record").put("value", { fence: next });
  await redis.set("holdfast:{odd}:lock", "odd");
  const refused = await one.mutex("odd").acquire().catch((error) => error);
  console.log(next.fence > lease.fence, refused instanceof ServerError, (await (await one.inspector()).lock("name")) !== null);
  await Promise.all([one.close(), two.close()]);
  redis.disconnect();
})();
`;

let server: EmbeddedValkey;
let folder: string;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  folder = await mkdtemp(join(tmpdir(), "holdfast-bundles-"));
  await symlink(MODULES, join(folder, "node_modules"));
});

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

const FORMATS: [name: string, options: BuildOptions, file: string][] = [
  ["with its chunks apart", { splitting: true, format: "esm", outExtension: { ".js": ".mjs" } }, "main.mjs"],
  ["as one module", { format: "esm", outExtension: { ".js": ".mjs" } }, "main.mjs"],
  ["as CommonJS", { format: "cjs", outExtension: { ".js": ".cjs" } }, "main.cjs"],
];

/** Returns the folder of the bundle. */
async function bundled(program: string, place: string, options: BuildOptions): Promise<string> {
  const outdir = await mkdtemp(join(place, "bundle-"));
  await writeFile(join(folder, "main.js"), program);
  await build({
    entryPoints: [join(folder, "main.js")],
    bundle: true,
    minify: true,
    platform: "node",
    target: "node20",
    external: ["ioredis"],
    logLevel: "error",
    outdir,
    ...options,
  });
  return outdir;
}

test.each(FORMATS)("a bundle %s runs", async (_, options, file) => {
  const outdir = await bundled(PROGRAM, folder, options);
  const { stdout } = await run(process.execPath, [join(outdir, file), server.url], { timeout: 15_000 });
  expect(stdout.trim()).toBe("true true true");
});

/** Beside no installation, as a bundle is deployed: the client library cannot be found by its name. */
const LOADS: readonly [how: string, statement: string][] = [
  ["imports", 'import { Holdfast, HoldfastError } from "holdfast";'],
  ["requires", 'const { Holdfast, HoldfastError } = require("holdfast");'],
];
const WITH_URL = `
try { new Holdfast(process.argv[2]); } catch (error) { console.log(error instanceof HoldfastError, error.code, error.message); }
`;
/** The usual line by which an ES module of esbuild gets the `require` that CommonJS in it calls. */
const REQUIRE =
  'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

describe.each(LOADS)("a bundle of a program that %s holdfast", (how, statement) => {
  test.each(FORMATS)("%s: a URL is an error that says what to pass", async (_, options, file) => {
    const away = await mkdtemp(join(tmpdir(), "holdfast-bundle-"));
    onTestFinished(() => rm(away, { recursive: true }));
    const banner = how === "requires" && options.format === "esm" ? { banner: { js: REQUIRE } } : {};
    const outdir = await bundled(statement + WITH_URL, away, { ...options, ...banner });
    const { stdout } = await run(process.execPath, [join(outdir, file), server.url], { timeout: 15_000 });
    expect(stdout).toMatch(/^true CLIENT_NOT_INSTALLED .*in a bundle, pass a client/);
  });
});

test("a client that is in the bundle is passed, and used", async () => {
  const away = await mkdtemp(join(tmpdir(), "holdfast-bundle-"));
  onTestFinished(() => rm(away, { recursive: true }));
  const [, options, file] = FORMATS[2] as (typeof FORMATS)[number];
  const outdir = await bundled(PROGRAM, away, { ...options, external: [] });
  const { stdout } = await run(process.execPath, [join(outdir, file), server.url], { timeout: 15_000 });
  expect(stdout.trim()).toBe("true true true");
});
