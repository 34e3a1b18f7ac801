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

export class QueueWatch {
  readonly #standings: Standing[] = [];
  readonly #stop: () => void;

  constructor(world: World) {
    const note = (message: unknown): void => {
      const { lock } = message as { lock: string };
      if (world.current) this.#standings.push({ process: world.current.name, lock, atMs: world.nowMs });
    };
    waiting.subscribe(note);
    this.#stop = () => void waiting.unsubscribe(note);
  }

  stop(): void {
    this.#stop();
  }

  /** When the caller of this acquire knew that it stood in line: a process with one caller knows it for him. */
  queuedMs({ process, key, invMs, retMs }: Operation): number | undefined {
    const name = process.slice(0, process.lastIndexOf("."));
    const standing = this.#standings.find(
      ({ process: other, lock, atMs }) =>
        other === name && lock === key && atMs >= invMs && atMs <= (retMs ?? Number.POSITIVE_INFINITY),
    );
    return standing?.atMs;
  }
}
