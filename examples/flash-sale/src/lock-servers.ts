/** The servers of the locks of a sale with `--redlock`: embedded Valkeys that do not know of each other. The stock is on none of them. */
import { Redis } from "ioredis";
import { startEmbedded } from "./embedded.js";

export interface LockServers {
  readonly urls: readonly string[];
  /** The clients of this process. */
  readonly clients: readonly Redis[];
  stop(): Promise<void>;
}

/** Five servers tolerate the loss of two. */
export const LOCK_SERVER_COUNT = 5;

/** @throws {Unavailable} */
export async function startLockServers(count: number): Promise<LockServers> {
  const starts = await Promise.allSettled(Array.from({ length: count }, startEmbedded));
  const servers = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
  const stopServers = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  const failed = starts.find((start) => start.status === "rejected");
  if (failed) {
    await stopServers();
    throw failed.reason;
  }
  const urls = servers.map(({ url }) => url);
  const clients = urls.map(lockClient);
  return {
    urls,
    clients,
    stop: async () => {
      for (const client of clients) client.disconnect();
      await stopServers();
    },
  };
}

/** A client whose broken connection fails the calls that need it, and never ends the process. */
export function lockClient(url: string): Redis {
  const client = new Redis(url);
  client.on("error", () => {});
  return client;
}
