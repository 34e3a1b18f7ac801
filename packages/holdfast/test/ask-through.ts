/** Calls without a promise, for a port of a test that runs scripts by itself. */
import type { RedisPort } from "../src/redis/port.js";

export function askThrough(port: Pick<RedisPort, "script">): RedisPort["ask"] {
  return (script, [count = "0", ...words], timeoutMs, listener) => {
    const keys = words.slice(0, Number(count));
    port.script(script, keys, words.slice(keys.length), timeoutMs).then(
      (reply) => listener.replied(reply),
      (error) => listener.failed(error),
    );
  };
}
