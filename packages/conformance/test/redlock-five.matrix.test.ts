import { glide, ioredis, iovalkey, nodeRedis, nodeRedis5 } from "./clients.ts";
import { runQuorum } from "./redlock-matrix.ts";

runQuorum(5, [ioredis(), nodeRedis(), glide()]);
runQuorum(4, [iovalkey(), nodeRedis5()]);
