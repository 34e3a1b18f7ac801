/** Nemesis: one way in which things go wrong, as they do, and are well again when `strike` resolves. */
import type { Dice } from "../../chance/dice.js";
import type { Scene, Slot } from "../scene.js";

/** What no recipe without a fence survives: a pause longer than the ttl, lost data, a stepped clock. */
export type Bite = "pause" | "loss" | "clock";

/** One nemesis at a time acts on each of these: two at once would undo each other. */
export type Victim = "server" | "server clock" | "worker" | "way" | "link";

export interface Strike {
  readonly scene: Scene;
  /** The worker that is hurt, alone or as well. */
  readonly slot: Slot;
  readonly dice: Dice;
}

export interface Nemesis {
  readonly kind: string;
  readonly victim: Victim;
  readonly bites?: Bite;
  /**
   * Leases that were granted may be forgotten, or run out early, on the server: condition C does not hold over it.
   * `memory`: what was granted may be unknown afterwards, tokens included.
   */
  readonly breaks?: "time" | "memory";
  /** How often it is drawn, compared with others. @default 1 */
  readonly weight?: number;
  /** Why it cannot happen here. */
  whyNot(scene: Scene): string | null;
  /** Resolves when all is well again, with what it did. */
  strike(strike: Strike): Promise<string>;
}

export const always = () => null;

export function needsProcess({ server }: Scene): string | null {
  return server.process ? null : "the embedded engine is no process";
}
