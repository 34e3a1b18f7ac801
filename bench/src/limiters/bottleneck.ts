/**
 * A scheduler of jobs rather than a limit: each job here is empty. With a reservoir for each target, in Redis; to refuse
 * rather than to wait, its queue has no room.
 */
import Bottleneck from "bottleneck";
import { connect } from "../contestants/client.js";
import type { Limiter } from "./limiter.js";

const DROPPED = "This job has been dropped by Bottleneck";

export async function open(port: number): Promise<Limiter> {
  const client = await connect(port);
  const connection = new Bottleneck.IORedisConnection({ client });
  const nothing = async (): Promise<void> => {};
  return {
    check({ max, perMs }) {
      const group = new Bottleneck.Group({
        connection,
        id: `bench-${max}`,
        reservoir: max,
        reservoirRefreshAmount: max,
        reservoirRefreshInterval: perMs,
        highWater: 0,
        strategy: Bottleneck.strategy.OVERFLOW,
      });
      return async (target) => {
        try {
          await group.key(target).schedule(nothing);
          return true;
        } catch (error) {
          if ((error as Error).message === DROPPED) return false;
          throw error;
        }
      };
    },
    async close() {
      await connection.disconnect(true);
      client.disconnect();
    },
  };
}
