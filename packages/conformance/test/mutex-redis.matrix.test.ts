import { everyClient } from "./clients.ts";
import { runMatrix } from "./matrix.ts";

runMatrix(["redis-server", "redis-server, TLS", "redis-server, ACL"], everyClient());
