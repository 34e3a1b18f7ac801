import { runPairs } from "./matrix.ts";

runPairs("node-redis 5");
