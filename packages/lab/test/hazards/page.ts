/**
 * docs/hazards.md: what happens and what can be seen is written there by hand; the last column is made from the titles of
 * tests, which name the hazards that they show: `[H21]`, or `[breaks H21]` for a naive recipe.
 */
import { readdirSync, readFileSync } from "node:fs";

const root = new URL("../../../../", import.meta.url);
export const pageFile = new URL("docs/hazards.md", root);
/** Where tests are, and the cases of the conformance suite, which are tests of every store. */
const folders = [
  "packages/conformance/src/",
  "packages/holdfast/test/",
  "packages/lab/test/hazards/",
  "packages/lab/test/refused/",
];

/** A test is known by its title, in quotes, where it is given to `test` or is a case's name. One that is skipped is none. */
const titled = /(?:(?:^|\s)(?:test|it)(?:\.each\([^)]*\))?\(|\sname:)\s*("(?:[^"\\\n]|\\.)*")/g;
const tag = / \[(breaks )?(H\d\d(?:, H\d\d)*)\]/g;
const row = /^\| (H\d\d) \| (.*) \| (.*) \| (.*) \|$/;

interface Shown {
  readonly file: string;
  readonly title: string;
  readonly breaks: boolean;
}

/** By the hazard; the recipes that break come first. */
export function shownHazards(): Map<string, Shown[]> {
  const shown = new Map<string, Shown[]>();
  for (const file of folders.flatMap(sourcesIn)) {
    for (const [, quoted = '""'] of readFileSync(new URL(file, root), "utf8").matchAll(titled)) {
      const full: string = JSON.parse(quoted);
      const title = full.replace(tag, "");
      for (const [, breaks, ids = ""] of full.matchAll(tag))
        for (const id of ids.split(", "))
          shown.set(id, [...(shown.get(id) ?? []), { file, title, breaks: breaks !== undefined }]);
    }
  }
  for (const tests of shown.values()) tests.sort((a, b) => Number(b.breaks) - Number(a.breaks));
  return shown;
}

/** The page, with its last column and its count made anew. */
export function hazardPage(page: string, shown: ReadonlyMap<string, readonly Shown[]>): string {
  let rows = 0;
  const lines = page.split("\n").map((line) => {
    const [, id = "", happens, seen, by = ""] = row.exec(line) ?? [];
    if (id === "") return line;
    rows += 1;
    const tests = shown.get(id);
    return `| ${[id, happens, seen, tests ? tests.map(linkTo).join("<br>") : by].join(" | ")} |`;
  });
  return lines.join("\n").replace(/^\d+ of \d+ are shown/m, `${shown.size} of ${rows} are shown`);
}

export function hazardRows(page: string): { readonly id: string; readonly by: string }[] {
  return page.split("\n").flatMap((line) => {
    const [, id, , , by = ""] = row.exec(line) ?? [];
    return id ? [{ id, by }] : [];
  });
}

function sourcesIn(folder: string): string[] {
  return readdirSync(new URL(folder, root), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => folder + name.replaceAll("\\", "/"))
    .sort();
}

function linkTo({ file, title, breaks }: Shown): string {
  return `**${breaks ? "breaks" : "holds"}** [${cell(title)}](../${file})`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
