import { runPairs } from "./matrix.ts";

runPairs("valkey-glide");
