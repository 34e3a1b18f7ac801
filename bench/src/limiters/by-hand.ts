/**
 * The floor: the least that an exact limit on one server sends, written by hand. One EVALSHA of a GCRA script that reads
 * the server's clock and one number, and writes one number. It knows one limit, a cost of one, and nothing of outages.
 */
import { connect } from "../contestants/client.js";
import type { Limiter } from "./limiter.js";

const GCRA = `
local time = redis.call("TIME")
local now = time[1] * 1000000 + time[2]
local interval, period = tonumber(ARGV[1]), tonumber(ARGV[2])
local at = tonumber(redis.call("GET", KEYS[1]) or 0)
if at < now then at = now end
local after = at + interval - now
if after > period then return {0, after - period} end
redis.call("SET", KEYS[1], string.format("%.0f", at + interval), "PX", math.ceil(after / 1000))
return {1, math.floor((period - after) / interval)}`;

export const open = (port: number): Promise<Limiter> => openWith(port, false);
export const openPipelined = (port: number): Promise<Limiter> => openWith(port, true);

async function openWith(port: number, pipelining: boolean): Promise<Limiter> {
  const client = await connect(port, pipelining);
  const sha = (await client.script("LOAD", GCRA)) as string;
  return {
    check({ max, perMs }) {
      const periodUs = perMs * 1_000;
      const intervalUs = periodUs / max;
      return async (target) => {
        const [ok] = (await client.evalsha(sha, 1, target, intervalUs, periodUs)) as [number, number];
        return ok === 1;
      };
    },
    close: async () => client.disconnect(),
  };
}
