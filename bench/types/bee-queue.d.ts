/** The part of bee-queue 2.0.0 that is measured; its declarations need those of redis 3. */

export default class Queue {
  constructor(
    name: string,
    settings: {
      readonly redis: { readonly host: string; readonly port: number };
      readonly isWorker?: boolean;
      readonly getEvents: boolean;
      readonly sendEvents: boolean;
      readonly storeJobs: boolean;
      readonly removeOnSuccess: boolean;
    },
  );
  ready(): Promise<this>;
  createJob(data: unknown): { save(): Promise<unknown> };
  process(concurrency: number, handler: (job: { readonly data: unknown }) => Promise<unknown>): void;
  close(): Promise<void>;
}
