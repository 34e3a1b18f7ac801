/** A program that uses every part of the packed library, compiled with declarations by one of two compilers. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { installed, modules, run } from "./installed.ts";

export interface Project {
  readonly compiler: "typescript" | "typescript-5.9";
  readonly module: string;
  readonly moduleResolution: string;
  /** A CommonJS module ends in `cts`, an ES module in `mts`. */
  readonly endings: readonly ("ts" | "cts" | "mts")[];
}

/** It names no type of the library: the compiler has to find how its users import them. */
const ELSEWHERE = (program: string): string => `
  import * as parts from "./${program}";
  export const acquired = () => parts.mutex.acquire();
  export const all = () => parts.several.acquire();
  export const inspector = () => parts.hf.inspector();
  export const received = () => parts.queue.receive();
  export const elected = () => parts.election.campaign();
  export const nodes = () => parts.redlock.nodes();
  export const limits = [parts.limitExpress, parts.limitFastify, parts.limitHono, parts.limitFetch];
`;

const beside = ["@types/node", "@types/express", "express", "fastify", "hono", "ioredis"];

/** Returns what the compiler complains of, and the declaration of the exported middlewares. */
export async function compiled({ compiler, endings, ...resolution }: Project) {
  const folder = await installed(beside);
  const program = await readFile(new URL("./every-part.ts", import.meta.url), "utf8");
  for (const ending of endings) {
    await writeFile(join(folder, `main.${ending}`), program);
    const name = ending === "ts" ? "main" : `main.${ending.replace("ts", "js")}`;
    await writeFile(join(folder, `elsewhere.${ending}`), ELSEWHERE(name));
  }
  const files = endings.flatMap((ending) => [`main.${ending}`, `elsewhere.${ending}`]);
  const compilerOptions = {
    ...resolution,
    target: "es2022",
    lib: ["es2023"],
    types: ["node"],
    strict: true,
    esModuleInterop: true,
    // The declarations of the library are checked as well.
    skipLibCheck: false,
    declaration: true,
    outDir: "out",
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const tsc = join(modules, compiler, "bin/tsc");
  const { stdout } = await run(process.execPath, [tsc, "-p", folder]).catch((error) => error);
  const declaration = await readFile(join(folder, `out/main.d.${endings[0]}`), "utf8").catch(() => "");
  return { complaints: stdout, declaration };
}
