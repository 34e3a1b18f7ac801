import { mutexCases } from "@holdfast/conformance";
import { ioredis } from "./clients.ts";
import { runCases } from "./matrix.ts";

runCases("redis-server, ACL", ioredis(), mutexCases);
