/** The interface that holdfast needs of a client library. Each library has a file under clients/ that provides it. */
import type { MessageListener, RedisPort, Topic } from "./port.js";

/** A connection for messages of a client library. Its promises may never settle. It keeps no list of topics: the subscriber does. */
export interface ClientMessages {
  /** Resolves once the server has confirmed it on the present connection. May be repeated. */
  subscribe(topic: Topic): Promise<unknown>;
  unsubscribe(topic: Topic): Promise<unknown>;
  /** Resolves when the server answers on this connection. @param topic one that is subscribed; null: there is none */
  ping(topic: Topic | null): Promise<unknown>;
  close(): void;
}

export interface ClientTrouble {
  /** The state of the client. */
  readonly text: string;
  readonly cause: Error | null;
  /** Whether it rejects every call at once, because nobody has connected it, or because it was closed. */
  readonly rejects: boolean;
  /** What the caller can do. @default by `rejects` */
  readonly remedy?: string;
}

export interface RedisClient extends Pick<RedisPort, "slotOf" | "zeroListenersMeansGone" | "reportsBreaks"> {
  /** Host and port of the server; null: the client does not tell, or follows a Sentinel. */
  readonly address: string | null;
  readonly library: "ioredis" | "node-redis" | "valkey-glide";
  /** Sends commands of one slot in one write where the client can; one promise per command, in order. */
  send(commands: readonly (readonly string[])[]): Promise<unknown>[];
  openMessages(listener: MessageListener): ClientMessages;
  /** Reports every break of the connection that carries the commands. Returns a function that ends this. */
  onDisruption(listener: () => void): () => void;
  /** Calls back when it may have been closed, or may have given up. Returns a function that ends this. Absent: it does not tell. */
  onEnd?(listener: () => void): () => void;
  /** Why it cannot be reached just now, as far as it knows; null when it is connected. */
  trouble(): ClientTrouble | null;
  /** Breaks the connection that carries the commands, and makes another. Only of a client that holdfast made itself. */
  renew?(): void;
  /** Ends the connection at once. Only called on a client that holdfast made itself. */
  close(): void;
  /** The client connects only when a call is sent, and not by itself. */
  readonly connectsOnUse?: boolean;
}

/** A client that sends everything to one server. */
export const oneServer: Pick<RedisClient, "slotOf" | "zeroListenersMeansGone" | "reportsBreaks"> = {
  slotOf: () => 0,
  zeroListenersMeansGone: true,
  reportsBreaks: true,
};
