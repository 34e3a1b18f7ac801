import { runPairs } from "./matrix.ts";

runPairs("iovalkey");
