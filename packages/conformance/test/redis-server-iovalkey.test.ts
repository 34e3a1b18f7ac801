import { mutexCases } from "@holdfast/conformance";
import { iovalkey } from "./clients.ts";
import { runCases } from "./matrix.ts";

runCases("redis-server", iovalkey(), mutexCases);
