import { ioredis } from "./clients.ts";
import { everyShape, oneIn, runMatrix } from "./matrix.ts";

runMatrix(["embedded", "redis-server, TLS"], [ioredis()]);
/** Each case on one of these servers. `npm run test:matrix` takes them all on each server. */
runMatrix(["redis-server, ACL"], [ioredis()], oneIn(2, 0, everyShape));
runMatrix(["valkey-server"], [ioredis()], oneIn(2, 1, everyShape));
