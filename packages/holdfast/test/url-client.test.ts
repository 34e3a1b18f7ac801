/** A URL uses whichever client library is installed: shown in installations that have one, both or none. */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { EmbeddedValkey } from "@holdfast/embedded";
import { afterAll, beforeAll, expect, test } from "vitest";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const PROGRAM = `
import { Holdfast } from "holdfast";
const hf = new Holdfast(process.argv[2]);
console.log(await hf.mutex("url").run((lease) => typeof lease.fence));
await hf.close();
`;
const run = promisify(execFile);
const load = createRequire(import.meta.url);

let server: EmbeddedValkey;
let folder: string;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  folder = await mkdtemp(join(tmpdir(), "holdfast-url-"));
});

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

/** Runs the program in an installation with these libraries. It ends by itself only if nothing is left open. */
async function runWith(...libraries: string[]): Promise<string> {
  const place = join(folder, libraries.join("-") || "none");
  const modules = join(place, "node_modules");
  await mkdir(join(modules, "holdfast"), { recursive: true });
  await cp(join(PACKAGE, "dist"), join(modules, "holdfast/dist"), { recursive: true });
  await cp(join(PACKAGE, "package.json"), join(modules, "holdfast/package.json"));
  for (const library of libraries) {
    const manifest = load.resolve(`${library}/package.json`);
    await symlink(dirname(manifest), join(modules, library));
  }
  await writeFile(join(place, "program.mjs"), PROGRAM);
  const { stdout } = await run(process.execPath, [join(place, "program.mjs"), server.url], {
    timeout: 15_000,
  });
  return stdout.trim();
}

test.each([["ioredis"], ["redis"], ["ioredis", "redis"]])("works with %s installed", async (...libraries) => {
  expect(await runWith(...libraries)).toBe("bigint");
});

test("says what to install when neither is", async () => {
  await expect(runWith()).rejects.toThrow(/CLIENT_NOT_INSTALLED|npm install ioredis/);
});
