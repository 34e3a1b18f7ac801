/** What the server forbids its user for a while: a script is refused in its middle, where the command stands. */
import { type Kind, lasting } from "./kind.js";

/** Those that scripts use; the first is forbidden more often than each of the others. */
const commands = (
  "publish append del exists expire get hdel hexists hget hgetall hincrby hlen hmget hrandfield hscan hset incr lindex linsert llen lmove " +
  "lpop lpos lpush lrange lrem lset ltrim mget persist pexpire pexpireat pttl pubsub rpop rpush sadd scard set setrange srem time unlink " +
  "zadd zcard zcount hstrlen zlexcount zmscore zpopmin zrange zrangebylex zrank zrem zscan zremrangebyscore zscore"
).split(" ");

export const forbidden: Kind = {
  kind: "command forbidden",
  on: "node",
  most: 2,
  forMs: (dice) => (dice.chance(0.5) ? dice.pick([1, 5, 20]) : lasting(50, 3_000)(dice)),
  value: (dice) => (dice.chance(0.3) ? 0 : dice.whole(0, commands.length - 1)),
  begin(scene, fault) {
    const node = scene.nodeOf(fault);
    const command = commands[fault.value] ?? "publish";
    node.forbid(command);
    return () => node.allow();
  },
};
