/**
 * Courier: one way of handing messages from producers to consumers. Every message is acknowledged after its handler, so
 * that a consumer that dies loses none.
 */
export interface Courier {
  producer(queue: string): Promise<Producer>;
  /** The consumer is connected, and takes nothing before `run()`. */
  consumer(queue: string, concurrency: number, handle: (message: Message) => void): Promise<Consumer>;
}

export interface Producer {
  /** @param lane couriers without lanes leave it out */
  push(message: Message, lane: number): Promise<unknown>;
  close(): Promise<unknown>;
}

export interface Consumer {
  run(): void;
  stop(): Promise<unknown>;
}

/** Every courier stores it as JSON. */
export interface Message {
  readonly n: number;
  /** process.hrtime right before the push, where the latency is measured. */
  readonly atNs?: string;
  readonly text?: string;
}
