/** A bundled holdfast runs: with its chunks apart, all in one file, and as CommonJS; and its first chunk stays small. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { EmbeddedValkey } from "@holdfast/embedded";
import { type BuildOptions, build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sizeOf } from "../src/questions/import-size.ts";

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
  await two.fencedRecord("record").write(next, "value");
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

test.each<[string, BuildOptions, string]>([
  ["with its chunks apart", { splitting: true, format: "esm", outExtension: { ".js": ".mjs" } }, "main.mjs"],
  ["as one module", { format: "esm", outExtension: { ".js": ".mjs" } }, "main.mjs"],
  ["as CommonJS", { format: "cjs", outExtension: { ".js": ".cjs" }, logLevel: "error" }, "main.cjs"],
])("a bundle %s runs", async (name, options, file) => {
  const outdir = join(folder, name.replaceAll(" ", "-"));
  await writeFile(join(folder, "main.js"), PROGRAM);
  await build({
    entryPoints: [join(folder, "main.js")],
    bundle: true,
    minify: true,
    platform: "node",
    target: "node20",
    external: ["ioredis"],
    outdir,
    ...options,
  });
  const { stdout } = await run(process.execPath, [join(outdir, file), server.url], { timeout: 15_000 });
  expect(stdout.trim()).toBe("true true true");
});

test("what a program with one lock loads at the start does not grow unseen", async () => {
  // Of it 3.5 kB check the options of limits and guards, where they are given: docs/adr/0011.
  expect((await sizeOf("holdfast")).gzipBytes).toBeLessThan(16_000);
});
