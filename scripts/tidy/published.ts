/** Who installs a package has its folder and nothing else: it says by itself what it is and on which terms. */
import type { Manifest } from "./declared.ts";
import type { Finding } from "./source.ts";

const files = ["README.md", "LICENSE"];
const texts = ["description", "license"] as const;

/** `known` are the files of the workspace. A private package is installed by nobody. */
export function checkPublished(folder: string, manifest: Manifest, known: ReadonlySet<string>): Finding[] {
  if (manifest.private) return [];
  const file = `${folder}/package.json`;
  const missing = [
    ...texts.filter((name) => !manifest[name]).map((name) => `"${name}" is missing`),
    ...(manifest.keywords?.length ? [] : ['"keywords" is missing']),
    ...files
      .filter((name) => !known.has(`${folder}/${name}`))
      .map((name) => `${folder}/${name} is missing: the package is published without it`),
  ];
  return missing.map((message) => ({ file, line: 1, rule: "published", message }));
}
