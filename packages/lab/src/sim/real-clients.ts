/** The client libraries that people use, opened in a world: it must have been made with `realClients`. */
import type { RedisClientLike } from "holdfast";
import type { SimClientOptions } from "./sim-client.js";

export interface OpenClient {
  readonly client: RedisClientLike;
  close(): void;
}

/** Opens a client to the node of that name, in the turn of a process. */
export type OpenReal = (node: string, options: SimClientOptions) => OpenClient;

/** Loads them, which takes files: call it before the world runs. */
export async function loadRealClients(): Promise<ReadonlyMap<string, OpenReal>> {
  const [{ Redis }, five, { createClient }] = await Promise.all([
    import("ioredis"),
    import("ioredis5"),
    import("redis"),
  ]);
  const Redis5 = five.Redis as unknown as typeof Redis;
  return new Map<string, OpenReal>([
    ["ioredis 6", (node, options) => ofIoredis(new Redis(ioredisOptions(node, options)))],
    ["ioredis 5", (node, options) => ofIoredis(new Redis5(ioredisOptions(node, options)))],
    [
      "node-redis 6",
      (node, { offlineQueue = true, database = 0 }) => {
        // What it would ask of a managed service, it asks a name server about.
        const client = createClient({
          socket: { host: node },
          database,
          maintNotifications: "disabled",
          disableOfflineQueue: !offlineQueue,
        });
        client.on("error", () => {});
        client.connect().catch(() => {}); // it goes on trying
        return { client, close: () => client.destroy() };
      },
    ],
  ]);
}

/** Without client info, for which ioredis reads a file of its own. */
function ioredisOptions(
  host: string,
  { unanswered = "resend", offlineQueue = true, database = 0 }: SimClientOptions,
) {
  return {
    host,
    db: database,
    disableClientInfo: true,
    enableOfflineQueue: offlineQueue,
    autoResendUnfulfilledCommands: unanswered === "resend",
  };
}

function ofIoredis(client: import("ioredis").Redis): OpenClient {
  client.on("error", () => {});
  return { client, close: () => client.disconnect() };
}
