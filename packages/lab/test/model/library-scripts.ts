/** The scripts of a lock over several servers, as the library sends them. */
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const folder = new URL("../../../holdfast/src/locks/backends/", import.meta.url);

/** No entry of the library names them: they are taken from its sources. */
export async function libraryScripts(): Promise<Record<"acquire" | "acquireMany" | "confirm", string>> {
  const [acquire, acquireMany, confirm] = await Promise.all([
    scriptOf("redis/lua/acquire.lua.ts"),
    scriptOf("redis/lua/acquire-many.lua.ts"),
    scriptOf("redlock/lua/confirm.lua.ts"),
  ]);
  return { acquire, acquireMany, confirm };
}

async function scriptOf(path: string): Promise<string> {
  const file = fileURLToPath(new URL(path, folder));
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    format: "esm",
    write: false,
    logLevel: "silent",
  });
  const text = outputFiles[0]?.text ?? "";
  const made: { readonly script: { readonly source: string } } = await import(
    `data:text/javascript,${encodeURIComponent(text)}`
  );
  return made.script.source;
}
