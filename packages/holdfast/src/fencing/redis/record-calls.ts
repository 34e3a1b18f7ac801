/** The calls of a fenced record; loaded with the first of them. */
import { InvalidArgumentError, ServerError, StaleTokenError, tellCaller } from "../../errors.js";
import { fencedKey } from "../../redis/keys.js";
import type { RedisPort, Reply } from "../../redis/port.js";
import { replyRow } from "../../redis/reply.js";
import type { Script } from "../../redis/script.js";
import type { Fenced } from "../fenced.js";
import { script as enterScript } from "./enter.lua.js";
import { script as writeScript } from "./write.lua.js";

export interface RecordState {
  readonly value: string | null;
  /** The newest token served; 0n before the first. */
  readonly fence: bigint;
}

/** Where a record is, and the way to it. */
export interface RecordPlace {
  readonly port: RedisPort;
  readonly prefix: string;
  readonly name: string;
  readonly callTimeoutMs: number;
}

export async function enter(place: RecordPlace, holder: Fenced): Promise<string | null> {
  const [, value] = await guarded(place, enterScript, holder, []);
  return textOf(value);
}

export async function write(place: RecordPlace, holder: Fenced, value: string): Promise<void> {
  if (typeof value !== "string") throw new InvalidArgumentError("value", `must be text, not ${typeof value}`);
  await guarded(place, writeScript, holder, [value]);
}

export async function read({ port, prefix, name, callTimeoutMs }: RecordPlace): Promise<RecordState> {
  const key = fencedKey(prefix, name);
  const reply = await tellCaller(port.command(["HMGET", key, "value", "token"], callTimeoutMs));
  const [value, token] = replyRow(reply, 2);
  const digits = String(token ?? 0);
  if (!/^\d+$/.test(digits)) throw new ServerError(`ERR the key ${key} holds something else than a record`);
  return { value: textOf(value), fence: BigInt(digits) };
}

async function guarded(
  { port, prefix, name, callTimeoutMs }: RecordPlace,
  script: Script,
  holder: Fenced,
  rest: readonly string[],
): Promise<Reply[]> {
  if (typeof holder?.fence !== "bigint" || holder.fence < 0n || typeof holder.id !== "string") {
    throw new InvalidArgumentError("holder", "must be a lease, or { fence: bigint, id: string }");
  }
  const args = [String(holder.fence), holder.id, ...rest];
  const reply = replyRow(
    await tellCaller(port.script(script, [fencedKey(prefix, name)], args, callTimeoutMs)),
  );
  if (Number(reply[0]) === 0) throw new StaleTokenError(name, holder.fence, BigInt(String(reply[1])));
  return reply;
}

function textOf(value: Reply | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}
