import { glide, ioredis, ioredis5, iovalkey, nodeRedis, nodeRedis4, nodeRedis5 } from "./clients.ts";
import { oneIn, runNouns, withFaults, withoutFaults } from "./matrix.ts";

/** Each case with one of these clients. `npm run test:matrix` takes them all with each client. */
for (const [place, client] of [ioredis(), nodeRedis()].entries())
  runNouns(["redis-server"], [client], oneIn(2, place, withFaults));
for (const [place, client] of [
  nodeRedis(),
  glide(),
  ioredis5(),
  nodeRedis5(),
  iovalkey(),
  nodeRedis4(),
].entries())
  runNouns(["redis-server"], [client], oneIn(6, place, withoutFaults));
