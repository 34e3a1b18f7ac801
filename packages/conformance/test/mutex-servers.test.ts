import { ioredis } from "./clients.ts";
import { everyShape, runMatrix } from "./matrix.ts";

runMatrix(["embedded", "redis-server, TLS"], [ioredis()]);
runMatrix(["redis-server, ACL", "valkey-server"], [ioredis()], everyShape);
