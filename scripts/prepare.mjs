/**
 * Makes a checkout ready to run: installs what is missing, generates, compiles. Silent when nothing is to do.
 *
 *   node scripts/prepare.mjs                        before the tests: everything
 *   node scripts/prepare.mjs examples/flash-sale    before this program: what it needs, and no check of types
 *   node scripts/prepare.mjs --no-build             before check, where a build that fails is one result among others
 *   node scripts/prepare.mjs --force                compiles everything again
 *   node scripts/prepare.mjs --pin                  writes down what the scripts are now (scripts.sha1)
 *
 * Plain JavaScript without dependencies: on a fresh clone it is the first thing that runs.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const oldestNode = [20, 19];
const beatMs = 5_000;
const root = fileURLToPath(new URL("..", import.meta.url));
const stampFile = join(root, "node_modules/.holdfast/prepared.json");
const force = process.argv.includes("--force");
const pin = process.argv.includes("--pin");
const noBuild = process.argv.includes("--no-build");
/** The folder of the one program that is to run; undefined where everything is wanted. */
const program = process.argv.slice(2).find((word) => !word.startsWith("-"));
/** Of a recorded run on a machine with two processors and a network of 100 Mbit/s. */
const expected = program
  ? { install: "about 15 s", build: "about 3 s" }
  : { install: "about 30 s", build: "about 10 s" };
/** Scripts of packages stay off, here as by .npmrc: no package needs one, and what a stranger wrote is not run unasked. */
const npmOptions = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

/** A reason to stop that the reader can act on; anything else is a defect and keeps its stack. */
class Stop extends Error {}

/** @param {string} file @returns {any} the parsed file, or undefined when it is missing or no JSON */
function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** @param {string} line */
function say(line) {
  console.error(`prepare: ${line}`);
}

/** @param {number} since milliseconds of performance.now() */
function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}

/**
 * Runs a program to its end. Ctrl-C reaches it as well (same process group), but npm goes on for many seconds then:
 * what it leaves behind is installed anew next time, so it is killed.
 * @param {string} command @param {string[]} args @param {{ shell?: boolean }} [options]
 * @returns {Promise<{ code: number, output: string }>}
 */
function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"], ...options });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk) => {
        output += chunk;
      });
    }
    process.once("SIGINT", () => {
      child.kill("SIGKILL");
      process.exit(130);
    });
    child.on("error", reject);
    child.on("close", (code) => {
      process.removeAllListeners("SIGINT");
      resolve({ code: code ?? 1, output });
    });
  });
}

/**
 * Says from time to time that the work goes on: an installation takes a minute on a slow network. Not in CI, whose logs nobody
 * waits for.
 * @template Value @param {string} what @param {Promise<Value>} work @returns {Promise<Value>}
 */
async function alive(what, work) {
  const since = performance.now();
  const beat = process.env.CI
    ? undefined
    : setInterval(() => say(`still ${what}, ${seconds(since)} so far …`), beatMs);
  try {
    return await work;
  } finally {
    clearInterval(beat);
  }
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = oldestNode;
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return;
  throw new Stop(
    `holdfast needs Node.js ${oldestNode.join(".")} or newer; this is ${process.version} (${process.execPath}).`,
  );
}

/** @param {string | Buffer} text */
function hash(text) {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}

/** The manifests too: a lock can name a package before any of them asks for it, and npm ci leaves that out. */
function installKey() {
  const file = join(root, "package-lock.json");
  const links = Object.values(readJson(file)?.packages ?? {}).filter(({ link }) => link);
  const folders = [root, ...links.map(({ resolved }) => join(root, resolved))];
  const asked = folders.map((folder) => join(folder, "package.json")).filter(existsSync);
  const texts = [file, ...asked].map((each) => readFileSync(each, "utf8"));
  return `${hash(texts.join("\n"))} node${process.versions.node.split(".")[0]} ${process.platform}-${process.arch}`;
}

/** npm keeps a list of what it installed; comparing it spares a second installation to who ran `npm ci` by hand. */
function installedMatchesLock() {
  const wanted = readJson(join(root, "package-lock.json"))?.packages ?? {};
  const present = readJson(join(root, "node_modules/.package-lock.json"))?.packages ?? {};
  return Object.entries(wanted).every(([path, { version, optional, devOptional, link }]) => {
    if (!path.startsWith("node_modules/")) return true;
    if (link) return existsSync(join(root, path));
    return present[path]?.version === version || (!present[path] && (optional || devOptional));
  });
}

/** A new package of this workspace needs one link, where everything else is installed, and no installation. */
function linkNewPackages() {
  const wanted = readJson(join(root, "package-lock.json"))?.packages ?? {};
  if (!existsSync(join(root, "node_modules/.package-lock.json"))) return;
  for (const [path, { link, resolved }] of Object.entries(wanted)) {
    const place = join(root, path);
    if (!link || existsSync(place) || !existsSync(join(root, resolved))) continue;
    mkdirSync(dirname(place), { recursive: true });
    rmSync(place, { force: true });
    symlinkSync(relative(dirname(place), join(root, resolved)), place, "junction");
  }
}

/**
 * A program needs a part of what is installed here. What is added later, for the tests, leaves that part as it is.
 * @param {Record<string, string>} stamp
 */
async function install(stamp) {
  const key = installKey();
  const [hashed, node, system, ...parts] = (stamp.installed ?? "").split(" ");
  const isCurrent = `${hashed} ${node} ${system}` === key;
  if (isCurrent && (parts.length === 0 || (program && parts.includes(program)))) return;
  const samePlatform = !hashed || key.endsWith(` ${node} ${system}`);
  if (samePlatform) linkNewPackages();
  if (samePlatform && installedMatchesLock()) return installed(stamp, key);
  // Whoever has everything gets everything of the new lock.
  const hasAll = parts.length === 0 && existsSync(join(root, "node_modules/.package-lock.json"));
  if (program && !hasAll) {
    const wanted = [...new Set([...parts, program])];
    await npm("ci", partOf(wanted), `what ${wanted.join(" and ")} needs`);
    return installed(stamp, [key, ...wanted].join(" "));
  }
  const isMore = isCurrent && parts.length > 0;
  // include=dev: NODE_ENV=production in the caller's shell must not leave the compiler out.
  if (isMore) await npm("install", ["--include=dev", "--no-save"], "the rest, beside what is there");
  if (!(isMore && installedMatchesLock())) await npm("ci", ["--include=dev"], "all dependencies");
  return installed(stamp, key);
}

/** @param {Record<string, string>} stamp @param {string} key */
function installed(stamp, key) {
  stamp.installed = key;
  save(stamp);
}

/**
 * The workspaces, by name: the folder of one may be within that of another. With the command: `npx holdfast` would ask the registry
 * for what is not linked here.
 * @param {string[]} folders
 */
function partOf(folders) {
  const names = ["scripts", "packages/cli", ...folders].map(
    (each) => readJson(join(root, each, "package.json"))?.name,
  );
  return ["--omit=dev", ...names.map((name) => `--workspace=${name}`)];
}

/** @param {"ci" | "install"} command @param {string[]} options @param {string} what */
async function npm(command, options, what) {
  const since = performance.now();
  const args = [command, ...options, ...npmOptions];
  say(`installing ${what} (npm ${command}), ${expected.install} on a quick network; this happens once …`);
  const cli = process.env.npm_execpath ?? "";
  const ran = basename(cli).startsWith("npm-cli")
    ? run(process.execPath, [cli, ...args])
    : run("npm", args, { shell: process.platform === "win32" });
  const { code, output } = await alive("installing", ran);
  if (code !== 0) {
    throw new Stop(
      `${output.trim()}\n\nnpm ${command} failed (exit code ${code}). It needs the npm registry: see npm config get registry.`,
    );
  }
  say(`installed in ${seconds(since)}`);
}

/** @param {Record<string, string>} stamp */
function save(stamp) {
  mkdirSync(join(stampFile, ".."), { recursive: true });
  writeFileSync(stampFile, `${JSON.stringify(stamp, null, 2)}\n`);
}

/** @param {string} folder @returns {string[]} */
function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === "node_modules" || entry.name === "dist") return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

function workspaces() {
  return ["packages", "examples"]
    .filter((kind) => existsSync(join(root, kind)))
    .flatMap((kind) => readdirSync(join(root, kind)).map((name) => join(root, kind, name)))
    .concat(join(root, "bench"))
    .filter((folder) => existsSync(join(folder, "tsconfig.json")));
}

/** Size and time of every file, not its content: a check on each start has to be quick. @param {string[]} files */
function fingerprint(files) {
  return hash(
    files
      .sort()
      .map((file) => {
        const { size, mtimeMs } = statSync(file);
        return `${file} ${size} ${mtimeMs}`;
      })
      .join("\n"),
  );
}

/** @param {string} folder @returns {string[]} the settings of the client modules that it bundles: one file, or none */
function viteConfigs(folder) {
  return [join(folder, "vite.config.js")].filter(existsSync);
}

/** Everything the compiler reads. The installed versions are part of it: a new compiler builds anew. */
function buildKey(/** @type {string} */ installed) {
  const sources = workspaces().flatMap((folder) => [
    join(folder, "package.json"),
    join(folder, "tsconfig.json"),
    ...["src", "client"]
      .map((kind) => join(folder, kind))
      .filter(existsSync)
      .flatMap(filesBelow),
    ...viteConfigs(folder),
  ]);
  const settings = ["tsconfig.json", "tsconfig.base.json", "scripts/bundle.ts"].map((name) =>
    join(root, name),
  );
  const bundlers = filesBelow(join(root, "scripts/bundle"));
  return `${fingerprint([...sources, ...settings, ...bundlers])} ${installed}`;
}

function luaKey() {
  const lua = workspaces()
    .filter((folder) => existsSync(join(folder, "src")))
    .flatMap((folder) => filesBelow(join(folder, "src")))
    .filter((file) => /\.lua(\.ts)?$/.test(file));
  return fingerprint([
    ...lua,
    ...["generate.ts", "lua.ts", "files.ts"].map((name) => join(root, "scripts", name)),
  ]);
}

/** @param {Record<string, string>} stamp */
async function generate(stamp) {
  if (!pin && stamp.generated === luaKey()) return;
  await must(["--import", "tsx", "scripts/generate.ts", ...(pin ? ["--pin"] : [])]);
  stamp.generated = luaKey();
  save(stamp);
}

/** tsc never deletes: the declaration of a removed source would be published. */
function prune() {
  for (const folder of workspaces()) {
    const dist = join(folder, "dist");
    if (!existsSync(dist)) continue;
    for (const declaration of filesBelow(dist).filter((file) => file.endsWith(".d.ts"))) {
      const stem = declaration.slice(0, -".d.ts".length);
      const source = join(folder, "src", stem.slice(dist.length));
      if (existsSync(`${source}.ts`) || existsSync(`${source}.tsx`)) continue;
      for (const ending of [".d.ts", ".d.ts.map"]) rmSync(stem + ending, { force: true });
    }
  }
}

/** @param {Record<string, string>} stamp */
async function build(stamp) {
  const key = buildKey(stamp.installed ?? "");
  const wanted = program ? [join(root, program)] : workspaces();
  const complete = wanted.every((folder) => existsSync(join(folder, "dist")));
  if (!force && complete && (stamp.built === key || (program && stamp.built === `${key} ${program}`))) return;
  const since = performance.now();
  if (!complete) say(`compiling, ${expected.build} …`);
  if (!program) await checkTypes();
  await must(["--import", "tsx", "scripts/bundle.ts", ...(program ? [program] : [])]);
  for (const config of wanted.flatMap(viteConfigs)) {
    await must(["node_modules/vite/bin/vite.js", "build", "--config", config]);
  }
  prune();
  stamp.built = program ? `${key} ${program}` : key;
  save(stamp);
  say(`compiled in ${seconds(since)}`);
}

async function checkTypes() {
  const args = ["node_modules/typescript/bin/tsc", "-b", "--pretty", String(process.stderr.isTTY ?? false)];
  const { code, output } = await run(process.execPath, force ? [...args, "--force"] : args);
  if (code === 0) return;
  const remedy = /\bTS(2307|7016)\b/.test(output) ? " If a package is missing: npm ci installs it." : "";
  throw new Stop(`${output.trim()}\n\ntsc -b failed.${remedy}`);
}

/** @param {string[]} args of node */
async function must(args) {
  const { code, output } = await run(process.execPath, args);
  if (code !== 0) throw new Stop(output.trim());
}

try {
  checkNode();
  const stamp = readJson(stampFile) ?? {};
  await install(stamp);
  await generate(stamp);
  if (!noBuild) await alive("compiling", build(stamp));
} catch (error) {
  if (!(error instanceof Stop)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
