import { mutexCases } from "@holdfast/conformance";
import { nodeRedis } from "./clients.ts";
import { runCases } from "./matrix.ts";

runCases("embedded", nodeRedis(), mutexCases);
