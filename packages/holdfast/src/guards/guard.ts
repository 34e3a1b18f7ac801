/** Guard: counts the hits of each subject on each route, and punishes a subject that goes over, more with each strike. */
import { checkWord, refuseSurplus } from "../arguments.js";
import type { GuardEngine } from "./guard-engine.js";
import type { HitOptions } from "./guard-lists.js";
import {
  type GuardOptions,
  type GuardSettings,
  type GuardVerdict,
  parseGuardOptions,
} from "./guard-settings.js";

export class Guard {
  readonly name: string;
  readonly #settings: GuardSettings;
  readonly #engine: GuardEngine;

  /** Made by `hf.guard(name, options)`. */
  constructor(engine: GuardEngine, name: string, options: GuardOptions) {
    this.name = checkWord("name", name);
    this.#settings = parseGuardOptions(name, options);
    this.#engine = engine;
  }

  /**
   * Counts a hit. The hit that goes over is punished: the subject is barred from all routes of this guard until the
   * penalty ends, and its counts start again. During a penalty this process answers without Redis, and a hit does not
   * prolong the penalty unless its rule says so.
   *
   * A pardon by another process takes effect here when the penalty would have ended, at the latest.
   * @param route the route whose hits are counted. Name it by its pattern, never by text that a caller chooses.
   * @throws {InvalidArgumentError} @throws {ClosedError}
   * @throws {IndeterminateError} @throws {ServerError} only with `outage: "error"`
   */
  async hit(subject: string, route = "", options?: HitOptions): Promise<GuardVerdict> {
    const engine = this.#engine;
    return engine.hit(this.#settings, checkWord("subject", subject), checkRoute(route), options);
  }

  /** Says what a hit would meet: the penalty in force, the strikes and the free hits. Counts nothing. Rejects as `hit` does. */
  async look(subject: string, route = "", options?: HitOptions): Promise<GuardVerdict> {
    const engine = this.#engine;
    return engine.look(this.#settings, checkWord("subject", subject), checkRoute(route), options);
  }

  /** Forgets the penalty, the strikes and the hits of the subject. Rejects when it could not, whatever `outage` says. */
  async pardon(subject: string): Promise<void> {
    const engine = this.#engine;
    return engine.pardon(this.#settings, checkWord("subject", subject));
  }
}

refuseSurplus(Guard, { hit: 3, look: 3, pardon: 1 });

function checkRoute(route: unknown): string {
  return route === "" ? route : checkWord("route", route);
}
