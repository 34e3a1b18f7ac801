/** The servers on which the suites of records run. */
import { ServerProcess } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";

export interface Server {
  readonly port: number;
  stop(): Promise<void>;
}

const program = process.env.HOLDFAST_REDIS_SERVER ?? "";

export const SERVERS: readonly [title: string, missing: boolean, start: () => Promise<Server>][] = [
  ["embedded Valkey", false, () => EmbeddedValkey.start()],
  ["redis-server", program === "", () => ServerProcess.start({ program })],
];
