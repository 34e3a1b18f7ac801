/** Chance in a simulation: one sequence for each label, so that what is left out of a run changes nothing else in it. */
import { Dice } from "../chaos/dice.js";

/** The same seed and label, the same sequence; other labels have others. */
export function diceFor(seed: number, label: string): Dice {
  let hash = seed ^ 0x9e3779b9;
  for (let i = 0; i < label.length; i++) hash = Math.imul(hash ^ label.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return new Dice(hash ^ (hash >>> 16));
}
