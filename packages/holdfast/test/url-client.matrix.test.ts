/** A URL uses whichever client library is installed: shown in installations that have one, several or none. */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const INSTALLED = fileURLToPath(new URL("../../../node_modules", import.meta.url));
const EMBEDDED = import.meta.resolve("@holdfast/embedded");
/** Prints the libraries that were loaded. It ends by itself only if nothing is left open. */
const PROGRAM = `
import { createRequire } from "node:module";
import { Holdfast } from "holdfast";
const [one, two] = [1, 2].map(() => new Holdfast(process.argv[2], { callTimeout: "30s" }));
const lease = await one.mutex("url").acquire();
const waiting = two.mutex("url").acquire({ wait: "1m" });
setImmediate(() => lease.release());
if ((await waiting).fence <= lease.fence) throw new Error("out of order");
await Promise.all([one.close(), two.close()]);
const files = Object.keys(createRequire(import.meta.url).cache).join(" ");
const found = files.matchAll(/node_modules\\/(ioredis|redis|iovalkey|@valkey\\/valkey-glide)\\//g);
console.log(...new Set([...found].map((match) => match[1])));
`;
/** Prints why it cannot reach the server. The native part of GLIDE needs time to learn the reason on a busy machine. */
const AWAY = `
import { Holdfast } from "holdfast";
const hf = new Holdfast("redis://127.0.0.1:1", { callTimeout: 500 });
let told = "";
const tell = (error) => (told = error.code + " " + error.message);
for (let tries = 0; tries < 60 && !/refused/i.test(told); tries += 1) await hf.mutex("url").tryAcquire().catch(tell);
console.log(told);
await hf.close();
`;
/** Prints what comes of a database that the server does not have. */
const NO_DATABASE = `
import { Holdfast } from "holdfast";
const tell = (error) => console.log(error.code, error.message);
const hf = new Holdfast(process.argv[2].replace(/\\d+$/, "99"), { callTimeout: "5s" });
await Promise.all([hf.mutex("a").tryAcquire().catch(tell), hf.limit("b", { max: 1, per: "1h" }).take("c").catch(tell)]);
for (const { severity, found } of (await hf.doctor()).findings) if (severity === "error") console.log("DOCTOR", found);
await hf.mutex("a").acquire().catch(tell);
await hf.close();
`;
/**
 * Prints what comes of it when the server returns with fewer databases, and then as it was. The last arguments say how often it may ask
 * until it is refused, and the server's port.
 */
const FEWER_DATABASES = `
import { createConnection } from "node:net";
import { once } from "node:events";
import { Holdfast } from "holdfast";
const { EmbeddedValkey } = await import(process.argv[3]);
const port = Number(process.argv[5]);
let server = await EmbeddedValkey.start({ port, config: "databases 4" });
const hf = new Holdfast("redis://127.0.0.1:" + port + "/3", { callTimeout: 500 });
let names = 0;
const until = async (expected, tries) => {
  let outcome = "";
  for (let at = 0; outcome !== expected && at < tries; at += 1) {
    outcome = await hf.mutex("b" + names++).tryAcquire().then(() => "acquired", ({ code }) => code);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  console.log(outcome);
};
await until("acquired", 100);
await server.stop();
server = await EmbeddedValkey.start({ port, config: "databases 1" });
await until("SERVER_ERROR", Number(process.argv[4]));
const socket = createConnection(port, "127.0.0.1");
socket.write("DBSIZE\\r\\n");
console.log("keys " + String((await once(socket, "data"))[0]).trim());
socket.destroy();
await server.stop();
server = await EmbeddedValkey.start({ port, config: "databases 4" });
await until("acquired", 100);
await hf.close();
await server.stop();
`;
/** With everything that a URL can say. */
const USER = { name: "us:er", password: "p@ss/word", database: 3 };
const run = promisify(execFile);

let server: EmbeddedValkey;
let folder: string;
let url: string;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  folder = await mkdtemp(join(tmpdir(), "holdfast-url-"));
  const admin = new Redis(server.url);
  await admin.call("ACL", "SETUSER", USER.name, "on", `>${USER.password}`, "+@all", "allkeys", "allchannels");
  admin.disconnect();
  const [name, password] = [USER.name, USER.password].map(encodeURIComponent);
  url = `redis://${name}:${password}@127.0.0.1:${server.port}/${USER.database}`;
});

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

/** A folder in which these libraries are installed, and holdfast beside them. */
async function install(libraries: readonly string[]): Promise<string> {
  const place = await mkdtemp(join(folder, "installation-"));
  const modules = join(place, "node_modules");
  await mkdir(join(modules, "holdfast"), { recursive: true });
  const filter = (path: string) => !/\.(map|d\.c?ts)$/.test(path);
  await cp(join(PACKAGE, "dist"), join(modules, "holdfast/dist"), { recursive: true, filter });
  await cp(join(PACKAGE, "package.json"), join(modules, "holdfast/package.json"));
  for (const library of libraries) {
    await mkdir(dirname(join(modules, library)), { recursive: true });
    await symlink(join(INSTALLED, library), join(modules, library));
  }
  return place;
}

const installations = new Map<string, Promise<string>>();

/** Runs the program in an installation with these libraries. */
async function runWith(libraries: readonly string[], program = PROGRAM, ...more: string[]): Promise<string> {
  const set = libraries.join();
  const installing = installations.get(set) ?? install(libraries);
  installations.set(set, installing);
  const place = await mkdtemp(join(await installing, "program-"));
  await writeFile(join(place, "program.mjs"), program);
  const { stdout } = await run(process.execPath, [join(place, "program.mjs"), url, EMBEDDED, ...more]);
  return stdout.trim();
}

/** In the order in which they are looked for. */
const LIBRARIES = ["ioredis", "redis", "iovalkey", "@valkey/valkey-glide"];

test.concurrent.each(LIBRARIES)("works with %s alone, with all that a URL can say", async (library) => {
  expect(await runWith([library])).toBe(library);
});

test.concurrent.each(LIBRARIES)("without a server, %s says why, and the process ends", async (library) => {
  expect(await runWith([library], AWAY)).toMatch(
    /^UNAVAILABLE no Redis at 127\.0\.0\.1:1 \(.*(REFUSED|refused)/m,
  );
});

test.concurrent.each(LIBRARIES)(
  "%s runs nothing in another database than that of the URL",
  async (library) => {
    const printed = await runWith([library], NO_DATABASE);
    // GLIDE keeps a log on stdout.
    const lines = printed.split("\n").filter((line) => /^[A-Z_]+ /.test(line));
    expect(lines).toEqual(
      Array(4).fill(
        expect.stringMatching(/^(SERVER_ERROR|DOCTOR) .*refused: .*DB index.*0 to 15 by default/),
      ),
    );
    const admin = new Redis(server.url);
    expect(await admin.keys("*")).toEqual([]);
    admin.disconnect();
  },
);

test.concurrent.each(LIBRARIES)(
  "%s runs nothing in another database after a reconnect either",
  async (library) => {
    // GLIDE is never told that it is refused.
    const mostTries = library.includes("glide") ? "5" : "100";
    const lines = (await runWith([library], FEWER_DATABASES, mostTries, `${await freePort()}`)).split("\n");
    const told = lines.filter((line) => /^([A-Z_]+|acquired|keys .*)$/.test(line));
    // GLIDE keeps the reason to itself, and connects no more until the database is there.
    const refused = library.includes("glide") ? "INDETERMINATE" : "SERVER_ERROR";
    expect(told).toEqual(["acquired", refused, "keys :0", "acquired"]);
  },
);

test.each([
  { installed: LIBRARIES, used: "ioredis" },
  { installed: LIBRARIES.slice(1), used: "redis" },
  { installed: LIBRARIES.slice(2), used: "iovalkey" },
])("takes $used when it is the first of those installed", async ({ installed, used }) => {
  expect(await runWith(installed)).toBe(used);
});

test("says what to install when none is", async () => {
  await expect(runWith([])).rejects.toThrow(/CLIENT_NOT_INSTALLED|npm install ioredis/);
});
