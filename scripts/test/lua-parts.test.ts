/** Each script of the library is the same text in the bundle as in its own module. */
import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { shareLua } from "../bundle/lua-parts.ts";
import { filesBelow } from "../files.ts";
import { readText } from "../lua.ts";

type Hook = (first: string, second?: string) => unknown;

const src = resolve(import.meta.dirname, "../../packages/holdfast/src");
const modules = filesBelow(src).filter((path) => path.endsWith(".lua.ts"));

/** What the module exports as `source`, with its parts joined. */
function sourceIn(code: string): string {
  const parts: string[] = [];
  for (const [, name = ""] of code.matchAll(/^import part\d+ from (".*");$/gm)) {
    const loaded = (shareLua.load as Hook)(JSON.parse(name)) as { readonly code: string };
    parts.push(evaluated(loaded.code.replace("export default ", "")));
  }
  const [, text = "``"] = /^ {2}source: ([\s\S]*),\n\};\n$/m.exec(code) ?? [];
  return evaluated(text, parts);
}

function evaluated(text: string, parts: readonly string[] = []): string {
  const names = parts.map((_, at) => `part${at}`);
  return new Function(...names, `return ${text}`)(...parts) as string;
}

test("in the bundle every script has the text of its SHA-1", () => {
  expect(modules.length).toBeGreaterThan(50);
  for (const path of modules) {
    const name = join(src, path);
    const code = readText(name);
    const shared = (shareLua.transform as Hook)(code, name) as string | null;
    const sha1 = createHash("sha1")
      .update(sourceIn(shared ?? code))
      .digest("hex");
    expect([path, sha1]).toEqual([path, /sha1: "(.*)"/.exec(code)?.[1]]);
  }
});
