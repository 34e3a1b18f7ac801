/** Guard desk: where all guards of a Holdfast are asked. A penalty that stands, a list and an outage are answered here. */
import { ClosedError, HoldfastError, tellCaller } from "../errors.js";
import type { BreakerPort } from "../redis/breaker.js";
import { guardKeys } from "../redis/keys.js";
import { replyRow } from "../redis/reply.js";
import { publish } from "../telemetry/events.js";
import type { Schedule } from "../time/schedule.js";
import { script } from "./guard.lua.js";
import { GuardLists, type HitOptions, nameOf } from "./guard-lists.js";
import type { GuardTerms } from "./guard-terms.js";
import type { GuardVerdict } from "./guard-verdict.js";
import { LocalShare } from "./local-share.js";
import { Penalized } from "./penalized.js";

export interface GuardDeskOptions {
  readonly port: BreakerPort;
  readonly schedule: Schedule;
  readonly prefix: string;
  readonly callTimeoutMs: number;
}

const MOST_PENALIZED = 10_000;
const STRUCK = 2;
const inReply = 5;

export class GuardDesk {
  readonly #options: GuardDeskOptions;
  readonly #penalized: Penalized;
  readonly #local: LocalShare;
  readonly #lists = new WeakMap<GuardTerms, GuardLists>();
  #closed = false;

  constructor(options: GuardDeskOptions) {
    const { schedule } = options;
    this.#options = options;
    this.#penalized = new Penalized(schedule.clock, MOST_PENALIZED);
    this.#local = new LocalShare(schedule.clock, MOST_PENALIZED);
  }

  hit(terms: GuardTerms, subject: string, route: string, options?: HitOptions): Promise<GuardVerdict> {
    return this.#ask(terms, "hit", { subject, route, listedAs: nameOf(options) ?? subject });
  }

  look(terms: GuardTerms, subject: string, route: string, options?: HitOptions): Promise<GuardVerdict> {
    return this.#ask(terms, "look", { subject, route, listedAs: nameOf(options) ?? subject });
  }

  async pardon(terms: GuardTerms, subject: string): Promise<void> {
    if (this.#closed) throw new ClosedError("pardon() came after hf.close()");
    const keys = guardKeys(this.#options.prefix, terms.name, subject, "");
    this.#penalized.pardon(keys[0]);
    try {
      await this.#script(terms, "pardon", keys);
    } finally {
      this.#penalized.pardon(keys[0]);
    }
  }

  close(): void {
    this.#closed = true;
  }

  async #ask(
    terms: GuardTerms,
    how: "hit" | "look",
    {
      subject,
      route,
      listedAs,
    }: { readonly subject: string; readonly route: string; readonly listedAs: string },
  ): Promise<GuardVerdict> {
    if (this.#closed) throw new ClosedError(`${how}() came after hf.close()`);
    const said = this.#listsOf(terms).say([listedAs, subject], this.#timeoutOf(terms));
    const listed = said instanceof Promise ? await said : said;
    if (listed !== null) return ofList(terms, listed);
    const keys = guardKeys(this.#options.prefix, terms.name, subject, route);
    const standing = terms.cache ? this.#penalized.standing(keys[0]) : null;
    if (standing) return standing;
    const [since, pardons] = [this.#options.schedule.clock.now(), this.#penalized.pardons];
    try {
      const { verdict, struck } = await this.#script(terms, how, keys);
      if (terms.cache) this.#penalized.note(keys[0], since, pardons, verdict);
      if (struck) tellPunished(terms, subject, route, verdict);
      return verdict;
    } catch (error) {
      return this.#outage(terms, how, keys[1], error);
    }
  }

  async #script(
    terms: GuardTerms,
    how: "hit" | "look" | "pardon",
    keys: readonly string[],
  ): Promise<{ verdict: GuardVerdict; struck: boolean }> {
    const call = this.#options.port.script(script, keys, [how, ...terms.words], this.#timeoutOf(terms));
    const [said, strikes, place, leftUs, remaining] = replyRow(await tellCaller(call), inReply).map(
      Number,
    ) as [number, number, number, number, number];
    const verdict: GuardVerdict = {
      ok: said === 0,
      penalty: terms.penalties[place - 1] ?? null,
      retryAfterMs: Math.ceil(leftUs / 1_000),
      strikes,
      remaining,
      source: "redis",
    };
    return { verdict, struck: said === STRUCK };
  }

  #outage(terms: GuardTerms, how: "hit" | "look", key: string, error: unknown): GuardVerdict {
    if (!(error instanceof HoldfastError) || error instanceof ClosedError) throw error;
    const { name, outage, penalties, share } = terms;
    publish("holdfast:guard:outage", () => ({ guard: name, outage, error }));
    if (outage === "error") throw error;
    if (outage === "local") {
      const counted = how === "hit" ? this.#local.take(share, key, 1) : this.#local.look(share, key, 1);
      const { ok, remaining, retryAfterMs } = counted;
      const penalty = ok ? null : (penalties[0] ?? null);
      return { ok, penalty, retryAfterMs, strikes: 0, remaining, source: "outage" };
    }
    const ok = outage === "open";
    return { ok, penalty: null, retryAfterMs: ok ? 0 : null, strikes: 0, remaining: 0, source: "outage" };
  }

  #listsOf(terms: GuardTerms): GuardLists {
    const known = this.#lists.get(terms);
    if (known) return known;
    const lists = new GuardLists(this.#options.schedule, terms);
    this.#lists.set(terms, lists);
    return lists;
  }

  #timeoutOf({ timeoutMs }: GuardTerms): number {
    return timeoutMs ?? this.#options.callTimeoutMs;
  }
}

function ofList({ hits }: GuardTerms, listed: "allow" | "deny"): GuardVerdict {
  const ok = listed === "allow";
  return {
    ok,
    penalty: null,
    retryAfterMs: ok ? 0 : null,
    strikes: 0,
    remaining: ok ? hits : 0,
    source: "list",
  };
}

function tellPunished({ name }: GuardTerms, subject: string, route: string, verdict: GuardVerdict): void {
  const { penalty, strikes } = verdict;
  if (!penalty) return;
  publish("holdfast:guard:punished", () => ({
    guard: name,
    subject,
    route,
    strikes,
    kind: penalty.kind,
    forMs: penalty.forMs,
  }));
}
