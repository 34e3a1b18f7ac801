import { mutexThemes } from "@holdfast/conformance";
import { nodeRedis } from "./clients.ts";
import { runCases } from "./matrix.ts";

/** The themes that need no proxy, which could not read what passes: connections, wake-ups, child processes on a rediss:// URL. */
const { exclusion, tokens, processes, restart, telling } = mutexThemes;

runCases("valkey-server, TLS", nodeRedis(), [...exclusion, ...tokens, ...processes, ...restart, ...telling]);
