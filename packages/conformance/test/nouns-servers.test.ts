import { ioredis } from "./clients.ts";
import { oneIn, runNouns, withoutFaults } from "./matrix.ts";

/** Each case on one of these servers. `npm run test:matrix` takes them all on each server. */
for (const [place, kind] of (
  ["embedded", "redis-server, ACL", "valkey-server", "redis-server, TLS"] as const
).entries())
  runNouns([kind], [ioredis()], oneIn(4, place, withoutFaults));
