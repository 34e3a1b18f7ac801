import { everyClient } from "./clients.ts";
import { runMatrix } from "./matrix.ts";

runMatrix(["valkey-server", "valkey-server, TLS", "valkey-server, ACL"], everyClient());
