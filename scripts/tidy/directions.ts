/**
 * Who may import whom. Between packages: by name, along the table. Inside the library: downwards only,
 * index -> holdfast -> primitives -> lease -> time, errors (ARCHITECTURE.md).
 */
import { posix } from "node:path";
import type { Finding, Source } from "./source.ts";

const rule = "direction";

/** What the sources of a package may take from the others of this workspace. Tests may take all that is declared. */
const packages: Readonly<Record<string, readonly string[]>> = {
  holdfast: [],
  "@holdfast/compat": ["holdfast"],
  "@holdfast/embedded": [],
  "@holdfast/conformance": ["holdfast"],
  "@holdfast/databases": ["@holdfast/conformance"],
  "@holdfast/bench": ["holdfast"],
  "@holdfast/lab": ["holdfast", "@holdfast/embedded", "@holdfast/conformance"],
  "@holdfast/console": ["holdfast"],
  "@holdfast/cli": [
    "holdfast",
    "@holdfast/embedded",
    "@holdfast/conformance",
    "@holdfast/lab",
    "@holdfast/console",
  ],
};
const forExamples = ["holdfast", "@holdfast/embedded", "@holdfast/console"];

/** Rooms that are planned have their place already: an import may not go the wrong way from the first day. */
const primitives = [
  "locks",
  "fencing",
  "limits",
  "guards",
  "signals",
  "synchronizers",
  "election",
  "once",
  "deliveries",
  "queues",
  "lanes",
  "records",
  "inspect",
  "doctor",
  "middleware",
];
/** A primitive on top of another: each line is a decision. */
const builtOn: Readonly<Record<string, readonly string[]>> = {
  records: ["fencing"],
  election: ["locks", "records"],
  once: ["locks", "records"],
  queues: ["deliveries"],
  lanes: ["deliveries"],
  inspect: ["locks", "limits", "signals", "synchronizers", "election", "queues", "lanes", "records", "once"],
  guards: ["limits"],
  middleware: ["limits", "guards", "fencing"],
};
const below: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  "bounded-map": [],
  "linked-list": [],
  "process-record": [],
  "process-settings": ["time", "errors"],
  "holdfast-options": ["arguments", "process-settings", "redis/clients", "time"],
  scopes: [],
  shown: [],
  stream: [],
  values: ["errors"],
  arguments: ["time", "errors"],
  time: ["errors"],
  telemetry: ["time", "errors"],
  lease: ["linked-list", "shown", "time", "errors", "telemetry"],
  redis: ["stream", "time", "errors", "telemetry"],
  "redis/clients": ["redis", "time", "errors", "telemetry"],
};
/** What the connection shows to a primitive; the rest of `redis/` is its own business. */
const redisForPrimitives = [
  "redis/context.ts",
  "redis/message.ts",
  "redis/foreign.ts",
  "redis/breaker.ts",
  "redis/port.ts",
  "redis/reply.ts",
  "redis/script.ts",
  "redis/keys.ts",
  "redis/scan.ts",
  "redis/pattern.ts",
  "redis/inbox.ts",
  "redis/subscriber.ts",
  "redis/slots.ts",
  "redis/watcher.ts",
  "redis/watched-state.ts",
  "redis/state-waits.ts",
  "redis/lua/_clock.lua",
  "redis/lua/_checked.lua",
  "redis/lua/_foreign.lua",
  "redis/lua/_listens.lua",
  "redis/lua/_message.lua",
  "redis/lua/_refusal.lua",
  "redis/lua/_rights.lua",
  "redis/lua/_version.lua",
];

/** Imports between the packages of this workspace, and out of a package by path. */
export function checkPackages(
  source: Source,
  folder: string,
  name: string,
  names: readonly string[],
): Finding[] {
  const isTest = source.file.startsWith(`${folder}/test/`);
  const allowed = folder.startsWith("examples/") ? forExamples : (packages[name] ?? []);
  return source.imports.flatMap(({ specifier, line }) => {
    const finding = (message: string) => [{ file: source.file, line, rule, message }];
    if (specifier.startsWith(".")) {
      const target = posix.join(posix.dirname(source.file), specifier);
      return target.startsWith(`${folder}/`)
        ? []
        : finding(`"${specifier}" leaves ${folder}: import the package by its name`);
    }
    const target = packageOf(specifier);
    if (isTest || target === name || !names.includes(target) || allowed.includes(target)) return [];
    return finding(`${name} must not know ${target}`);
  });
}

/** Imports between the rooms of packages/holdfast/src, and includes of their scripts. `files` are the paths that exist, to resolve against. */
export function checkRooms(
  source: Pick<Source, "file" | "imports">,
  src: string,
  files: ReadonlySet<string>,
): Finding[] {
  const from = source.file.slice(src.length + 1);
  const room = roomOf(from);
  if (room === undefined) {
    const message = `no room for ${from}: the rooms of the library are listed in scripts/tidy/directions.ts`;
    return [{ file: source.file, line: 1, rule, message }];
  }
  return source.imports.flatMap(({ specifier, line }) => {
    const target = resolveFile(source.file, specifier, files)?.slice(src.length + 1);
    if (target === undefined || mayImport(from, target)) return [];
    return [{ file: source.file, line, rule, message: `${from} must not import ${target}` }];
  });
}

/** The file that a relative specifier means; `.js` stands for the `.ts` that it is compiled from. */
export function resolveFile(file: string, specifier: string, files: ReadonlySet<string>): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  const path = posix.join(posix.dirname(file), specifier);
  return [path, path.replace(/\.js$/, ".ts"), path.replace(/\.mjs$/, ".mts"), `${path}.ts`].find((found) =>
    files.has(found),
  );
}

/** "mutex" of "mutex", "@a/b" of "@a/b/c". */
export function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function roomOf(path: string): string | undefined {
  const [first = "", second = ""] = path.split("/");
  const name = first.replace(/\.ts$/, "");
  if (first === "redis" && second === "clients") return "redis/clients";
  const isFile = first !== name;
  if (isFile)
    return [
      "index",
      "holdfast",
      "holdfast-options",
      "redlock",
      "process-settings",
      "errors",
      "arguments",
      "bounded-map",
      "linked-list",
      "process-record",
      "scopes",
      "shown",
      "stream",
      "values",
    ].includes(name)
      ? name
      : undefined;
  return name in below || primitives.includes(name) ? name : undefined;
}

function mayImport(from: string, target: string): boolean {
  const [room = "", targetRoom = ""] = [roomOf(from), roomOf(target)];
  if (targetRoom === "index") return false;
  if (["index", "holdfast", "redlock"].includes(room)) return true;
  if (room === targetRoom) return room !== "locks" || mayImportLock(from, target);
  if (room in below) return below[room]?.includes(targetRoom) ?? false;
  if (targetRoom === "redis") return redisForPrimitives.includes(target);
  if (targetRoom === "locks" && target.startsWith("locks/backends/")) return false;
  return [
    "lease",
    "arguments",
    "bounded-map",
    "linked-list",
    "process-record",
    "scopes",
    "shown",
    "stream",
    "values",
    "time",
    "errors",
    "telemetry",
    ...(builtOn[room] ?? []),
  ].includes(targetRoom);
}

const portOfLocks = [
  "locks/backend.ts",
  "locks/inspection.ts",
  "locks/permit-inspection.ts",
  "locks/wait-store.ts",
];

/** A backend on top of another: a lock over several servers is a lock at each of them. */
const backendsOn: Readonly<Record<string, readonly string[]>> = { redlock: ["redis"] };

/** Locks know the port, never a backend; a backend knows the port, its own folder, and the backend on which it is built. */
function mayImportLock(from: string, target: string): boolean {
  const [store, targetStore] = [storeOf(from), storeOf(target)];
  if (store === undefined) return targetStore === undefined;
  if (portOfLocks.includes(target) || targetStore === store) return true;
  return targetStore !== undefined && (backendsOn[store]?.includes(targetStore) ?? false);
}

function storeOf(path: string): string | undefined {
  return /^locks\/backends\/([^/]+)/.exec(path)?.[1];
}
