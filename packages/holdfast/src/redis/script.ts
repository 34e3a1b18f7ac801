/** A Lua script as the generator writes it beside its `.lua` file. */
export interface Script {
  readonly name: string;
  readonly source: string;
  /** Hex SHA-1 of `source`, by which EVALSHA finds it. */
  readonly sha1: string;
  /** A second run does not know what the first one did: its answer is no answer to the call. */
  readonly tellsOwnRun?: boolean;
}
