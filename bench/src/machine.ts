/** What the figures were measured on. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem, type } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { roster } from "./contestants/roster.js";
import type { Machine } from "./result.js";

export function machine(redis: string): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    os: `${type()} ${release()}`,
    node: process.versions.node,
    redis,
    loadBefore: Number((loadavg()[0] ?? 0).toFixed(2)),
    commit: commit(),
    packages: Object.fromEntries(
      ["ioredis", ...Object.values(roster).flatMap((entry) => entry.package ?? [])].map((name) => [
        name,
        versionOf(name),
      ]),
    ),
  };
}

/** Of the sources that were measured; "-dirty" when some of them were not committed. */
function commit(): string | null {
  try {
    const args = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"];
    return execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return null;
  }
}

/** Not every package exports its package.json: it is looked for where its entry file is. */
function versionOf(name: string): string {
  let folder = dirname(fileURLToPath(import.meta.resolve(name)));
  for (;;) {
    try {
      const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      if (typeof version === "string") return version.replace(/^v/, "");
    } catch {}
    if (folder === dirname(folder)) return "unknown";
    folder = dirname(folder);
  }
}
