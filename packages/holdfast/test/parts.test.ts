/** Code that loads when it is first needed: once, in order, and with an error of ours where it is gone. */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { EmbeddedValkey } from "@holdfast/embedded";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ClosedError, NotLoadedError } from "../src/errors.js";
import { Part } from "../src/part.js";

describe("a part", () => {
  test("is loaded once, calls back in order, and is then there at once", async () => {
    let loads = 0;
    const part = new Part(async () => {
      loads += 1;
      return "loaded";
    });
    const heard: string[] = [];
    expect([part.value, part.begun]).toEqual([null, null]);
    part.use((value) => heard.push(`1 ${value}`));
    part.use((value) => heard.push(`2 ${value}`));
    expect(heard).toEqual([]);
    await part.begun;
    part.use((value) => heard.push(`3 ${value}`));
    expect(heard).toEqual(["1 loaded", "2 loaded", "3 loaded"]);
    expect([part.value, loads]).toEqual(["loaded", 1]);
  });

  test("that cannot be loaded says so with an error of ours, and is asked for again", async () => {
    let tries = 0;
    const part = new Part(async () => {
      tries += 1;
      if (tries === 1) throw new Error("ENOENT");
      if (tries === 2) throw new ClosedError("x");
      return tries;
    });
    const failure = await new Promise<Error>((resolve) => part.use(() => {}, resolve));
    expect(failure).toBeInstanceOf(NotLoadedError);
    expect(failure).toMatchObject({ code: "NOT_LOADED", cause: { message: "ENOENT" } });
    expect(part.begun).toBeNull();
    await expect(part.load()).rejects.toBeInstanceOf(ClosedError);
    expect(await part.load()).toBe(3);
  });

  test("what is made of it is made once, and is there as soon as the part is, whoever loaded that", async () => {
    let made = 0;
    const code = new Part(async () => "code");
    const makers = [1, 2].map((each) =>
      code.made((value) => {
        made += 1;
        return `${value} ${each}`;
      }),
    );
    expect(makers.map((maker) => maker.value)).toEqual([null, null]);
    await code.load();
    expect(makers.map((maker) => maker.value)).toEqual(["code 1", "code 2"]);
    expect(await Promise.all(makers.map((maker) => maker.load()))).toEqual(["code 1", "code 2"]);
    expect(made).toBe(2);
    expect(await makers[0]?.begun).toBe("code 1");
  });
});

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const INSTALLED = fileURLToPath(new URL("../../../node_modules", import.meta.url));
const run = promisify(execFile);

let server: EmbeddedValkey;
let folder: string;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  folder = await mkdtemp(join(tmpdir(), "holdfast-parts-"));
});

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

/** Runs a program whose installation of holdfast it can remove: the lines that it prints. */
async function runIn(program: string): Promise<string[]> {
  const place = await mkdtemp(join(folder, "installation-"));
  const modules = join(place, "node_modules");
  await mkdir(join(modules, "holdfast"), { recursive: true });
  await cp(join(PACKAGE, "dist"), join(modules, "holdfast/dist"), { recursive: true });
  await cp(join(PACKAGE, "package.json"), join(modules, "holdfast/package.json"));
  await symlink(join(INSTALLED, "ioredis"), join(modules, "ioredis"));
  const start = `
    import { rmSync } from "node:fs";
    import { Redis } from "ioredis";
    import { Holdfast, preload } from "holdfast";
    const redis = new Redis(process.argv[2]);
    const remove = (path = "") => rmSync(new URL("./node_modules/holdfast/dist/" + path, import.meta.url), { recursive: true });
    const codeOf = (promise) => promise.then(() => "none", (error) => error.code);
  `;
  await writeFile(join(place, "program.mjs"), start + program);
  const { stdout } = await run(process.execPath, [join(place, "program.mjs"), server.url], {
    timeout: 15_000,
  });
  return stdout.trim().split("\n");
}

describe.concurrent("files that go away under a running process", () => {
  test("a free lock is taken and given back; what needs more is an error of ours; close settles", async () => {
    const lines = await runIn(`
      const other = new Redis(process.argv[2]);
      remove("later.js");
      const hf = new Holdfast(redis);
      const lease = await hf.mutex("free").acquire();
      console.log(await lease.release());
      await other.set("holdfast:{taken}:lock", "0000000000000001 x 0000000000000001 0000000000000001 86400000 1000 {}", "PX", 86401000);
      console.log(await codeOf(hf.mutex("taken").tryAcquire()));
      console.log(await codeOf(hf.mutex("taken").acquire()));
      console.log(await codeOf(hf.mutex("free").acquire({ floor: 5n })));
      const held = await hf.mutex("short", { ttl: 200 }).acquire();
      await new Promise((resolve) => held.signal.addEventListener("abort", resolve));
      console.log(held.signal.reason.reason, await held.release());
      await hf.close();
      redis.disconnect();
      other.disconnect();
    `);
    expect(lines).toEqual(["released", "NOT_LOADED", "NOT_LOADED", "NOT_LOADED", "expired lapsed"]);
  });

  test("without the code for its client, every call says so", async () => {
    const lines = await runIn(`
      remove();
      const hf = new Holdfast(redis);
      console.log(await codeOf(hf.mutex("a").tryAcquire()), await codeOf(hf.fencedRecord("a").read()));
      console.log(await codeOf(hf.doctor()), await codeOf(hf.inspector()), await codeOf(preload()));
      await hf.close();
      redis.disconnect();
    `);
    expect(lines).toEqual(["NOT_LOADED NOT_LOADED", "NOT_LOADED NOT_LOADED NOT_LOADED"]);
  });

  test("after preload() nothing more is needed", async () => {
    const lines = await runIn(`
      await preload();
      remove();
      const [one, two] = [new Holdfast(redis), new Holdfast(process.argv[2])];
      const lease = await one.mutex("all").acquire();
      console.log(await two.mutex("all").tryAcquire());
      const waiting = two.mutex("all").acquire();
      setTimeout(() => lease.release(), 100);
      const next = await waiting;
      await one.fencedRecord("all").write(next, "value");
      console.log((await two.fencedRecord("all").read()).value, (await one.inspector()) !== null);
      console.log((await one.doctor()).findings.length > 0);
      await Promise.all([one.close(), two.close()]);
      redis.disconnect();
    `);
    expect(lines).toEqual(["null", "value true", "true"]);
  });
});
