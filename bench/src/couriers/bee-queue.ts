/** bee-queue without events and without a table of jobs, as its README advises for speed. It keeps its own redis 3. */
import { createRequire } from "node:module";
import Queue from "bee-queue";
import { countSent } from "../contestants/client.js";
import type { Courier, Message } from "./courier.js";

interface Redis3 {
  readonly RedisClient: { readonly prototype: { internal_send_command(command: unknown): unknown } };
}

export function open(port: number): Courier {
  countRedis3();
  const settings = {
    redis: { host: "127.0.0.1", port },
    getEvents: false,
    sendEvents: false,
    storeJobs: false,
    removeOnSuccess: true,
  };
  return {
    async producer(name) {
      const queue = new Queue(name, { ...settings, isWorker: false });
      await queue.ready();
      return { push: (message) => queue.createJob(message).save(), close: () => queue.close() };
    },
    async consumer(name, concurrency, handle) {
      const queue = new Queue(name, settings);
      await queue.ready();
      return {
        run: () => queue.process(concurrency, async ({ data }) => handle(data as Message)),
        stop: () => queue.close(),
      };
    },
  };
}

function countRedis3(): void {
  const { prototype } = (createRequire(import.meta.resolve("bee-queue"))("redis") as Redis3).RedisClient;
  const send = prototype.internal_send_command;
  prototype.internal_send_command = function (command) {
    countSent();
    return send.call(this, command);
  };
}
