/** BullMQ with jobs that are removed when they are done, as holdfast removes messages; else its defaults. */
import { Queue, Worker } from "bullmq";
import type { Courier, Message } from "./courier.js";

export function open(port: number): Courier {
  const connection = { host: "127.0.0.1", port };
  return {
    async producer(name) {
      const queue = new Queue(name, { connection });
      await queue.waitUntilReady();
      return {
        push: (message) => queue.add("message", message, { removeOnComplete: true }),
        close: () => queue.close(),
      };
    },
    async consumer(name, concurrency, handle) {
      const worker = new Worker(name, async ({ data }) => handle(data as Message), {
        connection,
        concurrency,
        autorun: false,
      });
      await worker.waitUntilReady();
      return { run: () => void worker.run(), stop: () => worker.close() };
    },
  };
}
