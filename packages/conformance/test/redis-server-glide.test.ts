import { mutexCases } from "@holdfast/conformance";
import { glide } from "./clients.ts";
import { runCases } from "./matrix.ts";

runCases("redis-server", glide(), mutexCases);
