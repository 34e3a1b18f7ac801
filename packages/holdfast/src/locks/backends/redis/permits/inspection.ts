/** RedisPermitInspection: reads the state of semaphores, or of read-write locks, on one Redis or Valkey. */
import type { ServerError } from "../../../../errors.js";
import type { RedisContext } from "../../../../redis/context.js";
import { readRow, readState } from "../../../../redis/foreign.js";
import { permitKeys } from "../../../../redis/keys.js";
import type { Reply } from "../../../../redis/port.js";
import { replyRow } from "../../../../redis/reply.js";
import { lookAtNames } from "../../../../redis/scan.js";
import type {
  PermitInspection,
  PermitState,
  PermitWaiter,
  RevokeResult,
} from "../../../permit-inspection.js";
import { parseWaiter, toWaiter } from "../lock-state.js";
import { script as lookScript } from "./lua/look.lua.js";
import type { PermitNoun, PermitScripts } from "./permit-scripts.js";
import { HEAD, parseHead, toHolder } from "./permit-state.js";

/** Maximum number of holders and of waiters that are listed, for a single name and for each name of a list. */
const MOST = 1_000;
const MOST_IN_LIST = 100;

type InspectionContext = Pick<RedisContext, "port" | "prefix" | "callTimeoutMs">;

export class RedisPermitInspection implements PermitInspection {
  readonly #noun: PermitNoun;
  readonly #context: InspectionContext;
  readonly #scripts: PermitScripts;

  constructor(noun: PermitNoun, context: InspectionContext, scripts: PermitScripts) {
    this.#noun = noun;
    this.#context = context;
    this.#scripts = scripts;
  }

  async look(name: string, most = MOST): Promise<PermitState> {
    return readState(await this.#look([name], most));
  }

  async *list(pattern: string): AsyncGenerator<PermitState, void, undefined> {
    const look = (names: readonly string[]) => this.#look(names, MOST_IN_LIST);
    for await (const state of lookAtNames(this.#context, this.#noun, pattern, look))
      if (state.holders.length > 0 || state.waiting > 0) yield state;
  }

  async revoke(name: string, fence: bigint): Promise<RevokeResult> {
    const revoked = await this.#scripts.revoke(name, fence);
    if (!revoked) return { holder: null, told: false };
    return { holder: toHolder(revoked.id, revoked.lease, revoked.nowUs), told: revoked.told };
  }

  async #look(names: readonly string[], most: number): Promise<(PermitState | ServerError)[]> {
    const { port, prefix, callTimeoutMs } = this.#context;
    const keys = names.flatMap((name) => permitKeys(prefix, this.#noun, name));
    const reply = await port.script(lookScript, keys, [String(most)], callTimeoutMs);
    const [now, ...rows] = replyRow(reply, names.length + 1);
    return names.map((name, place) => readRow(rows[place], (row) => toRow(name, row, Number(now))));
  }
}

function toRow(name: string, row: Reply[], nowUs: number): PermitState {
  const [fields, inLine, banned, entries] = replyRow(row, 4);
  const leases = new Map<string, string>();
  const words = Array.isArray(fields) ? fields.map(String) : [];
  for (let place = 0; place < words.length; place += 2)
    leases.set(words[place] as string, words[place + 1] as string);
  const text = leases.get(HEAD);
  const head = text === undefined ? null : parseHead(text);
  const holders = [...leases].map(([id, value]) => toHolder(id, value, nowUs)).filter((one) => one !== null);
  holders.sort((one, other) => (one.fence < other.fence ? -1 : 1));
  const read = (Array.isArray(entries) ? entries : []).map((entry) => waiterIn(String(entry), nowUs));
  const waiters = read.filter((waiter) => waiter !== null);
  return {
    name,
    permits: head?.limit ?? null,
    holders,
    waiters,
    waiting: Math.max(Number(inLine) - (read.length - waiters.length), waiters.length),
    lastFence: head?.top ?? 0n,
    banned: Number(banned),
  };
}

/** An entry is the waiter's id, a blank, and its value in the hash. Null: the waiter is dead. */
function waiterIn(entry: string, nowUs: number): PermitWaiter | null {
  const [id = "", ...words] = entry.split(" ");
  const value = words.join(" ");
  const waiter = toWaiter(id, value, nowUs);
  return waiter && { ...waiter, permits: parseWaiter(value)?.turns ?? 1 };
}
