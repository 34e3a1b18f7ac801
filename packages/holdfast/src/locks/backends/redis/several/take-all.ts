/**
 * TakeAll: claims on several names in one call. All are granted, or none. The copies of the call are counted for each claim, so that
 * the clean-up of each stops a copy that arrives late.
 */
import { InvalidArgumentError } from "../../../../errors.js";
import type { Grant } from "../../../../lease/hold.js";
import type { Reply } from "../../../../redis/port.js";
import { notAnAnswer, replyRow } from "../../../../redis/reply.js";
import { groupBySlot, isCrossSlot } from "../../../../redis/slots.js";
import type { Instant } from "../../../../time/clock.js";
import type { BusyPart, StoreClaim, Taken } from "../../../backend.js";
import {
  type ClaimPart,
  type LockScripts,
  type LockScriptsContext,
  listensElsewhere,
} from "../lock-scripts.js";
import { RedisClaim } from "../redis-claim.js";
import { script as takeAllScript } from "./lua/take-all.lua.js";

export class TakeAll {
  readonly #context: LockScriptsContext;
  readonly #scripts: Pick<LockScripts, "counted" | "limitMs">;

  constructor(context: LockScriptsContext, scripts: Pick<LockScripts, "counted" | "limitMs">) {
    this.#context = context;
    this.#scripts = scripts;
  }

  /** Null: the names are in several slots of a cluster, and nothing was taken. @throws {InvalidArgumentError} a claim of another store */
  async take(claims: readonly StoreClaim[]): Promise<Taken | null> {
    const ours = claims.map((claim) => {
      if (claim instanceof RedisClaim) return claim;
      throw new InvalidArgumentError("claims", "must be claims at this Redis");
    });
    const { port } = this.#context;
    if (groupBySlot(ours, ({ sent }) => port.slotOf(sent.key)).length > 1) return null;
    try {
      return await this.#take(ours);
    } catch (error) {
      // The server says so by itself: nobody asks it before.
      if (isCrossSlot(error)) return null;
      throw error;
    }
  }

  async #take(claims: readonly RedisClaim[]): Promise<Taken> {
    const { port, owner, schedule } = this.#context;
    const parts = claims.map(({ part }) => part);
    const words = claims.flatMap(({ claim }, place) => [claim.id, (parts[place] as ClaimPart).terms]);
    const keys = parts.flatMap((part) => part.keys);
    const timeoutMs = this.#scripts.limitMs(Math.min(...claims.map(({ claim }) => claim.ttlMs)));
    const sentAt = schedule.clock.now();
    const args = [listensElsewhere(port), owner, ...words];
    const copies = claims.map(({ sent }) => sent);
    const { reply, taken } = await this.#scripts.counted(copies, async () => {
      const row = replyRow(await port.script(takeAllScript, keys, args, timeoutMs));
      return { reply: row, taken: parse(row, claims) };
    });
    return taken ? begin(claims, taken, sentAt) : end(claims, parts, reply);
  }
}

/** The token of each claim; null: nothing was taken. @throws {IndeterminateError} an answer of another shape, or to other claims */
function parse(reply: readonly Reply[], claims: readonly RedisClaim[]): bigint[] | null {
  const [status, ...row] = reply;
  if (Number(status) === 0 || Number(status) === 3) return null;
  return claims.map(({ claim }, place) => {
    const [token, id] = row.slice(2 * place);
    if (Number(status) !== 1 || id !== claim.id) throw notAnAnswer(reply as Reply);
    return BigInt(String(token));
  });
}

function begin(claims: readonly RedisClaim[], tokens: readonly bigint[], sentAt: Instant): Taken {
  const grants: Grant[] = [];
  let lost: BusyPart | null = null;
  for (const [place, claim] of claims.entries()) {
    const outcome = claim.attempted({ kind: "granted", token: tokens[place] as bigint }, sentAt);
    if ("token" in outcome) grants.push(outcome);
    else lost ??= { place, busy: outcome };
  }
  // A lock of them was released by force before the answer came.
  if (lost) for (const claim of claims) claim.abandon();
  return lost ?? grants;
}

function end(claims: readonly RedisClaim[], parts: readonly ClaimPart[], reply: readonly Reply[]): BusyPart {
  const [status, from1, own, holder] = reply;
  const isBusy = Number(status) === 0;
  // An earlier copy of the request took some of them, or a claim was given up before.
  const isUnclear = !isBusy || Number(own) > 0;
  for (const claim of claims) {
    if (isUnclear) claim.abandon();
    else claim.forget();
  }
  const place = isBusy ? Number(from1) - 1 : 0;
  const owner = isBusy ? parts[place]?.toHeld(holder).owner : null;
  return { place, busy: { owner: owner ?? null, ahead: null } };
}
