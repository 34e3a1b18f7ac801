/** The files of the workspace: a list of paths below a folder, with `/` on every system, sorted. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

const leftOut = new Set(["node_modules", "dist", "coverage", "reports", ".git"]);

/** Every file below `folder`, relative to it; what is installed or built is left out. */
export function filesBelow(folder: string, prefix = ""): string[] {
  if (!existsSync(folder)) return [];
  const found: string[] = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (leftOut.has(entry.name)) continue;
    const path = `${prefix}${entry.name}`;
    if (entry.isDirectory()) found.push(...filesBelow(join(folder, entry.name), `${path}/`));
    else if (entry.isFile()) found.push(path);
  }
  return found.sort();
}

/** The files below the root that git tracks, of those that match. Without git, and outside of a clone, none. */
export function trackedFiles(root: string, ...matching: readonly string[]): string[] {
  const { stdout } = spawnSync("git", ["ls-files", "-z", "--", ...matching], { cwd: root, encoding: "utf8" });
  return (stdout ?? "").split("\0").filter((file) => file !== "");
}

/** Folders of the packages that exist, relative to the root: `packages/holdfast`, … A kind may be a package itself. */
export function workspaces(
  root: string,
  kinds: readonly string[] = ["packages", "examples", "bench"],
): string[] {
  const isPackage = (folder: string) => existsSync(join(root, folder, "package.json"));
  return kinds.flatMap((kind) => {
    if (!existsSync(join(root, kind))) return [];
    if (isPackage(kind)) return [kind];
    return readdirSync(join(root, kind), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && isPackage(`${kind}/${entry.name}`))
      .map((entry) => `${kind}/${entry.name}`)
      .sort();
  });
}
