/** The part of bullmq 6.7.0 that is measured; its declarations need those of pg. */

interface Connection {
  readonly host: string;
  readonly port: number;
}

export class Queue {
  constructor(name: string, options: { readonly connection: Connection });
  waitUntilReady(): Promise<unknown>;
  add(name: string, data: unknown, options: { readonly removeOnComplete: boolean }): Promise<unknown>;
  close(): Promise<void>;
}

export class Worker {
  constructor(
    name: string,
    processor: (job: { readonly data: unknown }) => Promise<unknown>,
    options: {
      readonly connection: Connection;
      readonly concurrency: number;
      readonly autorun: boolean;
    },
  );
  waitUntilReady(): Promise<unknown>;
  run(): Promise<void>;
  close(): Promise<void>;
}
