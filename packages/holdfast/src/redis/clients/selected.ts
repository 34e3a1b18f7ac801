/**
 * A client of our own on another database than 0. ioredis and node-redis send the commands that wait right behind
 * SELECT, and go on in database 0 when the server refuses it. So commands wait here instead, until the library
 * says that its connection is ready, and a refusal rejects them before they are sent.
 */
import type { RedisClient } from "../client.js";

/** The connection of a library, as far as it tells of itself. */
export interface SelectingConnection {
  on(event: string, listener: (...args: never[]) => void): unknown;
  isReady(): boolean;
  /** Ends this connection and makes another, unless the library does so by itself. */
  reconnect(): void;
}

interface WaitingCommand {
  readonly command: readonly string[];
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export function sendOnceSelected(client: RedisClient, connection: SelectingConnection): RedisClient {
  let waiting: WaitingCommand[] = [];
  let refusal: Error | null = null;
  const rejectWaiting = (error: Error): void => {
    const rejected = waiting;
    waiting = [];
    for (const { reject } of rejected) reject(error);
  };
  connection.on("connect", () => {
    refusal = null;
  });
  connection.on("error", (error: Error) => {
    refusal = isRefusedSelect(error) ? error : null;
    if (!refusal) return;
    connection.reconnect();
    rejectWaiting(error);
  });
  connection.on("ready", () => {
    // iovalkey calls itself ready also when SELECT was refused.
    if (refusal) return;
    const sent = waiting;
    waiting = [];
    const replies = client.send(sent.map(({ command }) => command));
    for (const [place, { resolve, reject }] of sent.entries()) replies[place]?.then(resolve, reject);
  });
  return {
    ...client,
    send(commands) {
      if (refusal) return commands.map(() => Promise.reject(refusal));
      if (connection.isReady()) return client.send(commands);
      return commands.map(
        (command) => new Promise((resolve, reject) => waiting.push({ command, resolve, reject })),
      );
    },
    close() {
      rejectWaiting(new Error("the client was closed"));
      client.close();
    },
  };
}

/** node-redis does not say which command of its handshake was refused; the texts of servers do. */
function isRefusedSelect(error: Error & { readonly command?: { readonly name?: string } }): boolean {
  const name = error.command?.name;
  return name ? name.toLowerCase() === "select" : /^[A-Z]+ .*\b(DB index|select)\b/i.test(error.message);
}
