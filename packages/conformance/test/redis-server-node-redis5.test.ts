import { mutexCases } from "@holdfast/conformance";
import { nodeRedis5 } from "./clients.ts";
import { runCases } from "./matrix.ts";

runCases("redis-server", nodeRedis5(), mutexCases);
