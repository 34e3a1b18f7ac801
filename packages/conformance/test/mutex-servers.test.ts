import { ioredis } from "./clients.ts";
import { runMatrix } from "./matrix.ts";

runMatrix(["embedded", "redis-server, TLS", "redis-server, ACL", "valkey-server"], [ioredis()]);
