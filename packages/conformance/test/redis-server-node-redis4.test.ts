import { mutexCases } from "@holdfast/conformance";
import { nodeRedis4 } from "./clients.ts";
import { runCases } from "./matrix.ts";

runCases("redis-server", nodeRedis4(), mutexCases);
