/** Guard: counts the hits of each subject on each route, and punishes who goes over, more with each strike. */
import { checkWord } from "../arguments.js";
import type { GuardDesk } from "./guard-desk.js";
import type { HitOptions } from "./guard-lists.js";
import { type GuardOptions, type GuardTerms, guardTermsOf } from "./guard-terms.js";
import type { GuardVerdict } from "./guard-verdict.js";

export class Guard {
  readonly name: string;
  readonly #terms: GuardTerms;
  readonly #desk: GuardDesk;

  /** Made by `hf.guard(name, options)`. */
  constructor(desk: GuardDesk, name: string, options: GuardOptions) {
    this.name = checkWord("name", name);
    this.#terms = guardTermsOf(name, options);
    this.#desk = desk;
  }

  /**
   * Counts a hit. The one that goes over is punished: the subject is barred from all routes of this guard until the
   * penalty ends, and its counts begin anew. Who hits during a penalty is answered in this process, without Redis, and
   * does not prolong it unless the penalty says so.
   *
   * A pardon by another process is seen here when the penalty would have ended, at the latest.
   * @param route hits are counted for each by itself; name it by its pattern, not by what a caller may choose
   * @throws {InvalidArgumentError} @throws {ClosedError}
   * @throws {IndeterminateError} @throws {ServerError} only with `outage: "error"`
   */
  async hit(subject: string, route = "", options?: HitOptions): Promise<GuardVerdict> {
    const desk = this.#desk;
    return desk.hit(this.#terms, checkWord("subject", subject), checkRoute(route), options);
  }

  /** What stands against the subject, without a hit. Errors as for `hit`. */
  async look(subject: string, route = "", options?: HitOptions): Promise<GuardVerdict> {
    const desk = this.#desk;
    return desk.look(this.#terms, checkWord("subject", subject), checkRoute(route), options);
  }

  /** From now on nothing stands against the subject: no penalty, no strike, no hit. Rejects whatever `outage` says. */
  async pardon(subject: string): Promise<void> {
    const desk = this.#desk;
    return desk.pardon(this.#terms, checkWord("subject", subject));
  }
}

function checkRoute(route: unknown): string {
  return route === "" ? route : checkWord("route", route);
}
