/** A contestant whose cycle is one call: there is nothing to release. */
import type { Redis } from "ioredis";
import { connect } from "./client.js";
import type { Contestant } from "./contestant.js";

export interface OneCall {
  call(name: string, caller: number): Promise<unknown>;
  /** What the calls under this name have counted, where they count. */
  count?(name: string): Promise<number>;
  close?(): Promise<void>;
}

export async function oneCall(
  port: number,
  callOn: (client: Redis) => OneCall | Promise<OneCall>,
): Promise<Contestant> {
  const client = await connect(port);
  const { call, count, close } = await callOn(client);
  return {
    acquire: call,
    release: async () => {},
    ...(count ? { count } : {}),
    async close() {
      await close?.();
      client.disconnect();
    },
  };
}
