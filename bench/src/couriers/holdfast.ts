import { Holdfast } from "holdfast";
import { connect } from "../contestants/client.js";
import type { Courier, Message } from "./courier.js";

export async function openQueue(port: number): Promise<Courier> {
  const hf = new Holdfast(await connect(port));
  return {
    async producer(name) {
      const queue = hf.queue<Message>(name);
      return { push: (message) => queue.push(message), close: async () => {} };
    },
    async consumer(name, concurrency, handle) {
      const queue = hf.queue<Message>(name);
      return onDemand(() => queue.consume(async ({ body }) => handle(body), { concurrency }));
    },
  };
}

export async function openLanes(port: number): Promise<Courier> {
  const hf = new Holdfast(await connect(port));
  return {
    async producer(name) {
      const lanes = hf.lanes<Message>(name);
      return { push: (message, lane) => lanes.push(String(lane), message), close: async () => {} };
    },
    async consumer(name, concurrency, handle) {
      const lanes = hf.lanes<Message>(name);
      return onDemand(() => lanes.consume(async ({ body }) => handle(body), { concurrency }));
    },
  };
}

function onDemand(consume: () => { stop(): Promise<void> }) {
  let consumer: ReturnType<typeof consume> | null = null;
  return {
    run() {
      consumer = consume();
    },
    stop: async () => consumer?.stop(),
  };
}
