/** Who stood in line, and since when: what the library says of itself on its diagnostics channel. */
import { channel } from "node:diagnostics_channel";
import type { Operation } from "../../../../history/operation.js";
import type { World } from "../../../world.js";

interface Standing {
  readonly process: string;
  readonly lock: string;
  readonly atMs: number;
}

const waiting = channel("holdfast:lock:waiting");
const regression = channel("holdfast:lock:token-regression");

export class QueueWatch {
  readonly #standings: Standing[] = [];
  /** When a process gave back a token that had fallen. It then asks again, and comes behind those who stand in line by then. */
  readonly #refusals: Standing[] = [];
  readonly #stop: () => void;

  constructor(world: World) {
    const noteIn = (list: Standing[]) => (message: unknown) => {
      const { lock } = message as { lock: string };
      if (world.current) list.push({ process: world.current.name, lock, atMs: world.nowMs });
    };
    const [waits, refuses] = [noteIn(this.#standings), noteIn(this.#refusals)];
    waiting.subscribe(waits);
    regression.subscribe(refuses);
    this.#stop = () => {
      waiting.unsubscribe(waits);
      regression.unsubscribe(refuses);
    };
  }

  stop(): void {
    this.#stop();
  }

  /** When the caller of this acquire knew that it stood in line: a process with one caller knows it for him. */
  queuedMs({ process, key, invMs, retMs }: Operation): number | undefined {
    const name = process.slice(0, process.lastIndexOf("."));
    const isOwn = ({ process: other, lock, atMs }: Standing): boolean =>
      other === name && lock === key && atMs >= invMs && atMs <= (retMs ?? Number.POSITIVE_INFINITY);
    const refused = this.#refusals.findLast(isOwn);
    return this.#standings.find((one) => isOwn(one) && (!refused || one.atMs > refused.atMs))?.atMs;
  }
}
