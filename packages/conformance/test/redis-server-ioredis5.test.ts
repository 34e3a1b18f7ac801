import { mutexCases } from "@holdfast/conformance";
import { ioredis5 } from "./clients.ts";
import { runCases } from "./matrix.ts";

runCases("redis-server", ioredis5(), mutexCases);
