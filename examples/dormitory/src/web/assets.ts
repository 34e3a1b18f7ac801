/** What `vite build` made of client/: read once, kept in memory. */
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

export type ClientModule = "countdown" | "ticket" | "team" | "live";

export interface Asset {
  readonly body: string;
  readonly type: string;
}

export interface Assets {
  /** The path of the stylesheet. */
  readonly sheet: string;
  /** The stylesheet itself, for the page that comes in one request. */
  readonly sheetText: string;
  /** The path of a client module. */
  script(name: ClientModule): string;
  scriptText(name: ClientModule): string;
  /** A file by its name below /assets/. */
  file(name: string): Asset | null;
}

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
};

/** `dist/static` of the example, seen from the sources and from what they are compiled to. */
const folder = fileURLToPath(new URL("../../dist/static", import.meta.url));

export function loadAssets(): Assets {
  const manifest: Readonly<Record<string, { readonly file: string }>> = JSON.parse(
    readFileSync(join(folder, ".vite/manifest.json"), "utf8"),
  );
  const files = new Map(readdirSync(join(folder, "assets")).map((name) => [name, read(name)] as const));
  const built = (source: string): string => {
    const entry = manifest[source];
    if (!entry) throw new Error(`${source} is not built: run npm run build`);
    return entry.file.slice("assets/".length);
  };
  const text = (source: string): string => files.get(built(source))?.body.trim() ?? "";
  return {
    sheet: `/assets/${built("client/site.css")}`,
    sheetText: text("client/site.css"),
    script: (name) => `/assets/${built(`client/${name}.ts`)}`,
    scriptText: (name) => text(`client/${name}.ts`),
    file: (name) => files.get(name) ?? null,
  };
}

function read(name: string): Asset {
  return {
    body: readFileSync(join(folder, "assets", name), "utf8"),
    type: types[extname(name)] ?? "application/octet-stream",
  };
}
