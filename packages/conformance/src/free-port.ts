/**
 * A port for a server to come, or for one that a test ends under its program. It lies below those that the kernel gives to
 * connections that go out and to servers that name no port (from 32768 on Linux). One of these could take it before the
 * server has it, or while the server is down: the program's own client that tries to come back, or the server of another
 * test, which would answer that client.
 */
import { once } from "node:events";
import { createServer } from "node:net";

const HOST = "127.0.0.1";
const [FIRST, END] = [10_240, 32_768] as const;
/** Processes begin so far apart from each other. */
const APART = 211;
/** Each of them is free, but for the few of servers that are up. */
const TRIES = 100;
let next = (process.pid * APART) % (END - FIRST);

/** A port of the loopback on which nobody listens now, and which this process has not been given for long. */
export async function freePort(): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const port = FIRST + next;
    next = (next + 1) % (END - FIRST);
    const listener = createServer();
    try {
      await once(listener.listen(port, HOST), "listening");
    } catch (error) {
      if (tries === TRIES) throw error;
      continue;
    }
    await new Promise((resolve) => listener.close(resolve));
    return port;
  }
}
