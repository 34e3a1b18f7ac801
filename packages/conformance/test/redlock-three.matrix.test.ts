import { glide, ioredis, ioredis5, iovalkey, nodeRedis, nodeRedis4, nodeRedis5 } from "./clients.ts";
import { runQuorum } from "./redlock-matrix.ts";

for (const each of [ioredis(), nodeRedis(), glide()]) runQuorum(3, [each]);
runQuorum(3, [ioredis(), nodeRedis(), glide()]);
runQuorum(3, [ioredis5(), nodeRedis4(), iovalkey()]);
runQuorum(3, [nodeRedis5(3), ioredis(2), nodeRedis(2)]);
