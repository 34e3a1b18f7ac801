import { runPairs } from "./matrix.ts";

runPairs("node-redis 6");
