/** What a library adds to a program that takes one lock, and what it does when it is only imported. */
import { execFileSync } from "node:child_process";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";
import type { ContestantName } from "../contestants/contestant.js";
import { PEERS, roster } from "../contestants/roster.js";
import type { Figures } from "../figures.js";
import type { CaseResult, Target } from "../result.js";
import { interleave } from "../rig/interleave.js";
import { asked, limit, measured, type Question } from "./question.js";

const FOLDER = fileURLToPath(new URL("../..", import.meta.url));
const CLIENTS = ["ioredis", "redis", "iovalkey", "@valkey/valkey-glide"];

/** The least program that acquires and releases. */
const PROGRAMS: Readonly<Partial<Record<ContestantName, string>>> = {
  holdfast: `import { Holdfast } from "holdfast";
    const lease = await new Holdfast(client).mutex("name").acquire(); await lease.release();`,
  redlock4: `import Redlock from "redlock4";
    const lock = await new Redlock([client]).lock("name", 10000); await lock.unlock();`,
  redlock5: `import Redlock from "redlock5";
    const lock = await new Redlock([client]).acquire(["name"], 10000); await lock.release();`,
  "redis-semaphore": `import { Mutex } from "redis-semaphore";
    const mutex = new Mutex(client, "name"); await mutex.acquire(); await mutex.release();`,
  "redlock-universal": `import { createLock, IoredisAdapter } from "redlock-universal";
    const lock = createLock({ adapter: new IoredisAdapter(client), key: "name" });
    await lock.release(await lock.acquire());`,
  "sesamecare-redlock": `import { Redlock } from "@sesamecare-oss/redlock";
    const lock = await new Redlock([client]).acquire(["name"], 10000); await lock.release();`,
};

const LARGEST = 6;

const METHOD = `A program that takes and releases one lock, bundled by esbuild for Node as ESM, tree-shaken and minified, with the Redis
client left out; then gzip -9 of what is loaded at the start. What a library imports later, when a feature is used, is
counted apart. On import: timers and sockets that exist after the import of the package and did not before.`;

export const importSize: Question = {
  id: "size",
  title: "Import size",
  async ask(setting) {
    const names = asked(setting, ["holdfast", ...PEERS]);
    const parts = names.includes("holdfast") ? await largestParts("holdfast") : null;
    const result = await interleave({
      plan: {
        notes: parts === null ? {} : { holdfast: parts },
        id: "mutex",
        title: "a program with one lock",
        primary: "gzipBytes",
        better: "less",
        columns: ["gzipBytes", "minifiedBytes", "lazyGzipBytes", "timers", "sockets"],
        floor: null,
      },
      contestants: names,
      rounds: 1,
      warmUp: false,
      watcher: setting.watcher,
      slice: async (name) => ({ ...(await sizeOf(name)), ...startedBy(name) }),
    });
    return { id: "size", title: this.title, method: METHOD, cases: [result], targets: targetsOf([result]) };
  },
};

function bundle(program: string) {
  return build({
    stdin: { contents: `const client = globalThis.client;\n${program}`, resolveDir: FOLDER, loader: "js" },
    bundle: true,
    minify: true,
    treeShaking: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: CLIENTS,
    outdir: FOLDER,
    absWorkingDir: FOLDER,
    write: false,
    metafile: true,
    logLevel: "silent",
  });
}

/** Where to look first when it has grown. */
async function largestParts(name: ContestantName): Promise<string> {
  const { metafile } = await bundle(PROGRAMS[name] ?? "");
  const parts = [...loadedAtStart(metafile)]
    .flatMap((output) => Object.entries(metafile.outputs[output]?.inputs ?? {}))
    .sort(([, a], [, b]) => b.bytesInOutput - a.bytesInOutput)
    .slice(0, LARGEST);
  return `largest: ${parts.map(([path, { bytesInOutput }]) => `${basename(path)} ${bytesInOutput}`).join(", ")}`;
}

async function sizeOf(name: ContestantName): Promise<Figures> {
  const { metafile, outputFiles } = await bundle(PROGRAMS[name] ?? "");
  const atStart = loadedAtStart(metafile);
  const sizes = outputFiles.map(({ path, contents }) => ({
    atStart: [...atStart].some((output) => path.replaceAll("\\", "/").endsWith(`/${output}`)),
    minified: contents.length,
    gzip: gzipSync(contents, { level: 9 }).length,
  }));
  const total = (of: "minified" | "gzip", when: boolean) =>
    sizes.filter((size) => size.atStart === when).reduce((bytes, size) => bytes + size[of], 0);
  return {
    gzipBytes: total("gzip", true),
    minifiedBytes: total("minified", true),
    lazyGzipBytes: total("gzip", false),
  };
}

/** The entry and what it imports by a statement, and so on; not what `import()` fetches. */
function loadedAtStart({ outputs }: Metafile): Set<string> {
  const found = new Set<string>();
  const queue = Object.keys(outputs).filter((output) => outputs[output]?.entryPoint === "<stdin>");
  for (let output = queue.pop(); output !== undefined; output = queue.pop()) {
    if (found.has(output)) continue;
    found.add(output);
    const statements = outputs[output]?.imports.filter(
      ({ kind, external }) => kind === "import-statement" && !external,
    );
    queue.push(...(statements ?? []).map(({ path }) => path));
  }
  return found;
}

function startedBy(name: ContestantName): Figures {
  const specifier = JSON.stringify(roster[name].package);
  const program = `
    import { writeSync } from "node:fs";
    const before = process.getActiveResourcesInfo();
    await import(${specifier});
    const after = process.getActiveResourcesInfo();
    for (const resource of before) if (after.includes(resource)) after.splice(after.indexOf(resource), 1);
    writeSync(1, JSON.stringify(after));`;
  const text = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: FOLDER,
    encoding: "utf8",
    // Writing to a pipe would make it a resource: some libraries look at stderr on import.
    stdio: ["ignore", "pipe", "ignore"],
  });
  const started: string[] = JSON.parse(text);
  const timers = started.filter((resource) => /^(Timeout|Immediate)$/.test(resource)).length;
  return { timers, sockets: started.filter((resource) => /TCP|UDP|Pipe|TLS/.test(resource)).length };
}

function targetsOf(cases: readonly CaseResult[]): Target[] {
  const own = measured(cases, "mutex", "holdfast")?.figures;
  const started = own && (own.timers ?? 0) + (own.sockets ?? 0);
  return [
    limit("Size: the mutex path at most 8 kB", own?.gzipBytes, 8_000, (bytes) => `${bytes} bytes`),
    limit("Size: the import starts nothing", started, 0, (count) => `${count} timers and sockets`),
  ];
}
