/** The servers on which the suites of records run. */
import { type ProgramName, program, ServerProcess } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";

export interface Server {
  readonly port: number;
  stop(): Promise<void>;
}

export const SERVERS: readonly [
  title: string,
  needs: readonly ProgramName[],
  start: () => Promise<Server>,
][] = [
  ["embedded Valkey", [], () => EmbeddedValkey.start()],
  ["redis-server", ["redis-server"], () => ServerProcess.start({ program: program("redis-server") })],
];
