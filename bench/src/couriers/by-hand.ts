/** The two queues that one writes by hand over bare ioredis. Neither looks after the messages of a dead consumer. */
import type { Redis } from "ioredis";
import { connect } from "../contestants/client.js";
import type { Consumer, Courier, Message, Producer } from "./courier.js";

/** The floor: LPUSH; each handler has a connection, on which BLMOVE parks the message and LREM acknowledges it. */
export function openList(port: number): Courier {
  return {
    producer: (queue) => producerOn(port, (client, body) => client.lpush(queue, body)),
    async consumer(queue, concurrency, handle) {
      const parked = `${queue}:parked`;
      const clients = await Promise.all(Array.from({ length: concurrency }, () => connect(port)));
      return consumerOn(clients, async (client) => {
        const take = () => client.blmove(queue, parked, "RIGHT", "LEFT", 0) as Promise<string>;
        let body = await take();
        for (;;) {
          handle(JSON.parse(body));
          [, body] = await Promise.all([client.lrem(parked, -1, body), take()]);
        }
      });
    },
  };
}

const GROUP = "workers";

/** XADD; one reader for each process takes as many entries as it has handlers, and acknowledges and deletes them together. */
export function openStream(port: number): Courier {
  return {
    producer: (queue) => producerOn(port, (client, body) => client.xadd(queue, "*", "body", body)),
    async consumer(queue, concurrency, handle) {
      const client = await connect(port);
      await client.xgroup("CREATE", queue, GROUP, "0", "MKSTREAM").catch(() => {});
      return consumerOn([client], async () => {
        const me = String(process.pid);
        const take = async () => {
          const read = await client.xreadgroup(
            ...(["GROUP", GROUP, me, "COUNT", concurrency, "BLOCK", 0, "STREAMS", queue, ">"] as const),
          );
          return (read as [[string, [string, [string, string]][]]])[0][1];
        };
        let entries = await take();
        for (;;) {
          for (const [, [, body]] of entries) handle(JSON.parse(body));
          const ids = entries.map(([id]) => id);
          [, , entries] = await Promise.all([
            client.xack(queue, GROUP, ...ids),
            client.xdel(queue, ...ids),
            take(),
          ]);
        }
      });
    },
  };
}

async function producerOn(
  port: number,
  push: (client: Redis, body: string) => Promise<unknown>,
): Promise<Producer> {
  const client = await connect(port);
  return {
    push: (message: Message) => push(client, JSON.stringify(message)),
    close: async () => client.disconnect(),
  };
}

function consumerOn(clients: readonly Redis[], loop: (client: Redis) => Promise<never>): Consumer {
  let isStopped = false;
  const failed = (error: unknown): void => {
    if (!isStopped) throw error;
  };
  return {
    run() {
      for (const client of clients) loop(client).catch(failed);
    },
    async stop() {
      isStopped = true;
      for (const client of clients) client.disconnect();
    },
  };
}
