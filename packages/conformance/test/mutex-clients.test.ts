import { glide, ioredis, ioredis5, iovalkey, nodeRedis, nodeRedis4, nodeRedis5 } from "./clients.ts";
import { everyShape, runMatrix } from "./matrix.ts";

runMatrix(["redis-server"], [ioredis(), nodeRedis(), glide()]);
runMatrix(["redis-server"], [ioredis5(), iovalkey(), nodeRedis5(), nodeRedis4()], everyShape);
