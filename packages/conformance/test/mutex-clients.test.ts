import { glide, ioredis, ioredis5, iovalkey, nodeRedis, nodeRedis4, nodeRedis5 } from "./clients.ts";
import { everyShape, oneIn, runMatrix } from "./matrix.ts";

runMatrix(["redis-server"], [nodeRedis()]);
runMatrix(["redis-server"], [glide()], everyShape);
/** Each case with one of these clients. `npm run test:matrix` takes them all with each client. */
for (const [place, client] of [ioredis(), ioredis5(), iovalkey(), nodeRedis5(), nodeRedis4()].entries())
  runMatrix(["redis-server"], [client], oneIn(5, place, everyShape));
