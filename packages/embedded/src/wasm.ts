/**
 * The part of the WebAssembly API this package uses, typed here because the Node.js type package
 * does not carry it and the DOM library would bring the whole browser along.
 */

declare const compiledValkey: unique symbol;

/** The compiled engine. Opaque; it can be shared between instances and posted to worker threads. */
export interface ValkeyModule {
  readonly [compiledValkey]: true;
}

export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

export interface EngineExports {
  readonly memory: WasmMemory;
  readonly __stack_pointer: { value: number };
  _initialize(): void;
  rk_boot(port: number): number;
  rk_step(): number;
}

export type ImportFunction = (...args: never[]) => number | void;
export type ImportTable = Readonly<Record<string, ImportFunction>>;

interface WasmApi {
  compile(bytes: Uint8Array): Promise<ValkeyModule>;
  readonly Instance: new (module: ValkeyModule, imports: object) => { readonly exports: unknown };
  readonly Tag: new (type: { parameters: string[] }) => object;
}

const api = (globalThis as unknown as { WebAssembly: WasmApi }).WebAssembly;

export const pageBytes = 65_536;

export function compileBytes(bytes: Uint8Array): Promise<ValkeyModule> {
  return api.compile(bytes);
}

export function instantiate(module: ValkeyModule, host: ImportTable, wasi: ImportTable): EngineExports {
  // Lua leaves a failed call by throwing this tag; its one value points at the jump's arguments.
  const longjmp = new api.Tag({ parameters: ["i32"] });
  const imports = { host, wasi_snapshot_preview1: wasi, env: { __c_longjmp: longjmp } };
  return new api.Instance(module, imports).exports as EngineExports;
}
