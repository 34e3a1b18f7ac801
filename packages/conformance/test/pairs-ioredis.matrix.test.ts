import { runPairs } from "./matrix.ts";

runPairs("ioredis 6");
