/** What holdfast needs of a client library, whatever its shape. One file per library under clients/. */
import type { Inbound } from "./port.js";

export interface ClientSubscription {
  /** Resolves when the server answers on this connection; may never settle. */
  ping(): Promise<unknown>;
  close(): void;
}

export interface RedisClient {
  readonly library: "ioredis" | "node-redis" | "valkey-glide";
  /** Sends commands in one write where the client can; one promise per command, in order. */
  send(commands: readonly (readonly string[])[]): Promise<unknown>[];
  subscribe(channel: string, inbound: Inbound): ClientSubscription;
  /** Reports every break of the connection that carries the commands. Returns how to stop. */
  onDisruption(listener: () => void): () => void;
  /** Why it cannot be reached just now, as far as it knows; null when it is connected. */
  trouble(): { readonly text: string; readonly cause: Error | null } | null;
  /** Ends the connection at once. Only called on a client that holdfast made itself. */
  close(): void;
}
