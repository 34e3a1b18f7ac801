/** ServerFacts: the part of INFO that decides whether a server votes. */
import type { RedisPort } from "../../../redis/port.js";
import { notAnAnswer } from "../../../redis/reply.js";

export interface ServerFacts {
  /** The run id: one run of a server, from its start to its end. */
  readonly incarnation: string;
  readonly uptimeSeconds: number;
  readonly isReplica: boolean;
  /** The ids of the history of its data, and of the one that it went on with. A server that was a replica has those of its primary. */
  readonly histories: readonly (string | undefined)[];
  /** Whether it is part of a cluster. */
  readonly isClustered: boolean;
  /** The server's clock, in ms since 1970; null: it did not say. */
  readonly clockMs: number | null;
}

const NO_HISTORY = /^0*$/;

/** Whether the server has taken over the data of another one between the two readings, also where it is a primary in both. */
export function wasReplaced(before: ServerFacts, after: ServerFacts): boolean {
  if (before.isReplica) return !after.isReplica;
  const [history = ""] = before.histories;
  const [, previous = ""] = after.histories;
  // A primary that nobody copies begins a new history after a while, which goes on with none.
  return !NO_HISTORY.test(previous) && !after.histories.includes(history);
}

/** @throws {ServerError} @throws {IndeterminateError} */
export async function readServerFacts(port: RedisPort, timeoutMs: number): Promise<ServerFacts> {
  const sections = await Promise.all(
    ["server", "replication"].map((section) => port.command(["INFO", section], timeoutMs)),
  );
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(sections.join("\n"))?.[1];
  const incarnation = field("run_id");
  const uptimeSeconds = Number(field("uptime_in_seconds") ?? Number.NaN);
  // Without the line about the role, the answer to the second question belongs to another call.
  const role = field("role");
  if (!incarnation || !Number.isFinite(uptimeSeconds) || !role) throw notAnAnswer(sections[0]);
  const clockUs = Number(field("server_time_usec") ?? Number.NaN);
  return {
    incarnation,
    uptimeSeconds,
    isReplica: role !== "master",
    histories: [field("master_replid"), field("master_replid2")],
    isClustered: field("redis_mode") === "cluster" || field("server_mode") === "cluster",
    clockMs: Number.isFinite(clockUs) ? clockUs / 1_000 : null,
  };
}
