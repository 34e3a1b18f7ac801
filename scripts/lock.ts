/**
 * Keeps package-lock.json whole for every platform.
 *
 * npm leaves a platform's optional package out of the lock when it could not see it while installing: on a registry
 * mirror that lacks it, or with another platform's node_modules beside. `npm ci` then refuses the lock everywhere.
 *
 *   tsx scripts/lock.ts            adds what is missing; after every `npm install`
 *   tsx scripts/lock.ts --check    writes nothing; exit code 1 when something is missing
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

interface Entry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly [key: string]: unknown;
}

export interface Lock {
  readonly packages: Readonly<Record<string, Entry>>;
  readonly [key: string]: unknown;
}

const systems = [
  "android",
  "darwin",
  "freebsd",
  "linux",
  "netbsd",
  "openbsd",
  "openharmony",
  "sunos",
  "win32",
  "aix",
];
const processors = ["arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "x64"];

/** Entries to add, by their place in node_modules. */
export function missingEntries({ packages }: Lock): Record<string, Entry> {
  const found: Record<string, Entry> = {};
  for (const [place, entry] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      if (isLocked(packages, place, name)) continue;
      // A range has many answers; only the packages that name one version per platform can be filled in.
      if (/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
        found[`node_modules/${name}`] = platformEntry(name, version, entry);
    }
  }
  return found;
}

/** npm looks beside the package that asks, then in every folder above it. */
function isLocked(packages: Lock["packages"], place: string, name: string): boolean {
  const parts = place.split("/node_modules/");
  const folders = parts.map((_, at) => parts.slice(0, parts.length - at).join("/node_modules/"));
  const places = [...folders.map((folder) => `${folder}/node_modules/${name}`), `node_modules/${name}`];
  return places.some((key) => key in packages);
}

function platformEntry(name: string, version: string, parent: Entry): Entry {
  const words = name.split("/").at(-1)?.split("-") ?? [];
  const os = words.filter((word) => systems.includes(word));
  const cpu = words.filter((word) => processors.includes(word));
  const isMusl = words.some((word) => word.startsWith("musl"));
  const isGlibc = words.some((word) => word.startsWith("gnu"));
  return {
    version,
    ...(cpu.length > 0 ? { cpu } : {}),
    ...(parent.dev ? { dev: true } : {}),
    ...(isMusl || isGlibc ? { libc: [isMusl ? "musl" : "glibc"] } : {}),
    optional: true,
    ...(os.length > 0 ? { os } : {}),
  };
}

export function completed(lock: Lock): Lock {
  const packages = { ...lock.packages, ...missingEntries(lock) };
  const sorted = Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, "en"));
  return { ...lock, packages: Object.fromEntries(sorted) };
}

function main(): void {
  const file = join(import.meta.dirname, "../package-lock.json");
  const lock: Lock = JSON.parse(readFileSync(file, "utf8"));
  const missing = Object.keys(missingEntries(lock));
  const check = process.argv.includes("--check");
  for (const place of missing) console.log(`${check ? "missing" : "add"} ${place}`);
  if (missing.length === 0) return;
  if (check) {
    console.error("package-lock.json is not whole: npx tsx scripts/lock.ts");
    process.exitCode = 1;
  } else {
    writeFileSync(file, `${JSON.stringify(completed(lock), null, 2)}\n`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
