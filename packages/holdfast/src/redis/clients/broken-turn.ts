/**
 * BrokenTurn: keeps the commands of a turn of the event loop from a connection that breaks in the same turn.
 *
 * node-redis 5 writes the commands of a turn at the end of the turn, also when the connection has broken meanwhile. What it
 * writes then is lost, and every reply of the next connection goes to the command before: the client never becomes ready
 * again. So a command that is not written yet is taken back at the break, and sent again when the turn is over. Version 6
 * looks at the connection before it writes, and version 4 writes at once.
 */
import { setMaxListeners } from "node:events";
import { batchesSent } from "../../time/batcher.js";

type Send = (options: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** What node-redis 5 rejects a command with that is taken back. The error has no name of its own. */
const TAKEN_BACK = "The command was aborted";

export class BrokenTurn {
  #unwritten = controller();
  #over: Promise<void> | null = null;

  /** To be called when the connection breaks, in the same turn. */
  begin(): void {
    this.#over ??= batchesSent().then(() => {
      this.#over = null;
    });
    const unwritten = this.#unwritten;
    this.#unwritten = controller();
    unwritten.abort();
  }

  /** @param send sends a command with these options, and with those that are added to them */
  async send(send: Send): Promise<unknown> {
    if (this.#over) await this.#over;
    const { signal } = this.#unwritten;
    try {
      return await send({ abortSignal: signal });
    } catch (error) {
      if (!signal.aborted || (error as Error).message !== TAKEN_BACK) throw error;
      await this.#over;
      return send({});
    }
  }
}

/** Every command that is not yet written listens to it, so Node.js must not take many listeners for a leak. */
function controller(): AbortController {
  const made = new AbortController();
  setMaxListeners(0, made.signal);
  return made;
}
