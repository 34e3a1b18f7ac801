/** One kind of fault: how it is drawn, and what it does to a scene. */
import type { Dice } from "../../../chance/dice.js";
import type { Draw, Fault } from "../plan.js";
import type { Life, Scene } from "../scene.js";

export interface Kind extends Draw {
  /** It strikes when something meets it, and says so by `scene.struck`. @default it strikes when it begins */
  readonly strikesLater?: boolean;
  /** Returns how to end it, where it lasts. What is still on at the healing is ended then. */
  begin(scene: Scene, fault: Fault): (() => void) | undefined;
}

/** At one moment. */
export const momentary = (): number => 0;

export function lasting(shortestMs: number, longestMs: number): (dice: Dice) => number {
  return (dice) => dice.whole(shortestMs, longestMs);
}

export const noValue = (): number => 0;

/** The present life of the process that a fault is about; undefined: it is dead just now. */
export function lifeOf(scene: Scene, { target }: Fault): Life | undefined {
  const life = scene.lives.get(target);
  return life?.process.state === "dead" ? undefined : life;
}
