/** The part of PGlite that the embedded PostgreSQL uses; its own declarations (0.5.16) need those of Emscripten. */

export class PGlite {
  static create(dataDir?: string): Promise<PGlite>;
  exec(statements: string): Promise<unknown>;
  isInTransaction(): boolean;
  runExclusive<Value>(work: () => Promise<Value>): Promise<Value>;
  execProtocolRawStream(
    message: Uint8Array,
    options: { readonly onRawData: (data: Uint8Array) => void },
  ): Promise<unknown>;
  close(): Promise<void>;
}
