/** A bundle has the text of an included Lua file once. Each script that includes the file is joined when it is loaded. */
import { dirname, relative, resolve } from "node:path";
import type { Plugin } from "rolldown";
import { literalOf } from "../generate.ts";
import { included, pieces, readText, strip } from "../lua.ts";

/** Text between two includes of a file, by its place among such texts of the file, whatever those includes bring along. */
interface Part {
  readonly file: string;
  readonly index: number;
  readonly text: string;
}

const id = ({ file, index }: Part) => `${file}?part=${index}`;
const parsed = /^(.*)\?part=(\d+)$/;

export const shareLua: Plugin = {
  name: "share-lua",
  resolveId: (name) => (parsed.test(name) ? name : null),
  load(name) {
    const [, file, index] = parsed.exec(name) ?? [];
    if (!file) return null;
    const text = partsOf(file).find((part) => part.file === file && part.index === Number(index))?.text;
    if (text === undefined) throw new Error(`${name} is no part of its file`);
    return { code: `export default ${literalOf(text)}`, moduleSideEffects: false };
  },
  transform(code, name) {
    if (!name.endsWith(".lua.ts")) return null;
    const file = name.replace(/\.ts$/, "");
    const parts = partsOf(file).filter(({ text }) => text !== "");
    const source = literalOf(parts.map(({ text }) => text).join(""));
    if (!code.includes(source))
      throw new Error(`${relative(process.cwd(), name)} is not what its parts make`);
    const shared = parts.filter((part) => part.file !== file);
    if (shared.length === 0) return null;
    const imports = shared.map((part, at) => `import part${at} from ${JSON.stringify(id(part))};\n`);
    const joined = parts.map((part) =>
      part.file === file ? literalOf(part.text) : `part${shared.indexOf(part)}`,
    );
    return imports.join("") + code.replace(source, () => joined.join(" + "));
  },
};

function partsOf(script: string): Part[] {
  const seen = new Set<string>();
  const expand = (file: string): Part[] => {
    if (seen.has(file)) return [];
    seen.add(file);
    const found: Part[] = [];
    let [index, text] = [0, ""];
    const end = () => {
      found.push({ file, index, text: strip(text) });
      [index, text] = [index + 1, ""];
    };
    for (const piece of pieces(readText(file))) {
      const target = included(piece);
      if (target === undefined) text += piece.text;
      else {
        end();
        found.push(...expand(resolve(dirname(file), target)));
      }
    }
    end();
    return found;
  };
  return expand(resolve(script));
}
