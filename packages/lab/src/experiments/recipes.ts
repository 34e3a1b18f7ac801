/** The recipes that go round: each is what its text says, with the mistakes that are in the text. */
import type { Node } from "../sim/node.js";
import type { Actor } from "./actor.js";
import type { Possession } from "./possession.js";

export interface TakeOptions {
  /** How often it asks again while the lock is taken. @default 100 */
  readonly everyMs?: number;
  /** Whether it stops to believe in its lock when its time is over. @default false */
  readonly isWary?: boolean;
  /** Where its fencing token comes from. @default it has none */
  readonly token?: () => Promise<bigint>;
}

const deleteIfOwn = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`;

/** Asks until the answer is yes. Drawn are the first no and the yes. */
export async function poll(
  actor: Actor,
  at: Node,
  what: string,
  attempt: () => Promise<boolean>,
  everyMs = 100,
): Promise<void> {
  let endWait = (): void => {};
  for (let tries = 1; ; tries++) {
    const sentMs = actor.nowMs;
    if (await attempt()) {
      endWait();
      actor.drawCall(
        at.name,
        sentMs,
        `${what} → OK${tries > 1 ? ` (try ${tries.toLocaleString("en-US")})` : ""}`,
      );
      return;
    }
    if (tries === 1) {
      actor.drawCall(at.name, sentMs, `${what} → no; asks again every ${everyMs} ms`);
      endWait = actor.drawWait();
    }
    await actor.sleep(everyMs);
  }
}

/** SET NX PX, again and again. */
export function setNx(
  actor: Actor,
  at: Node,
  key: string,
  ttlMs: number,
  { everyMs, isWary = false, token }: TakeOptions = {},
): Promise<Possession> {
  return actor.takes(key, async () => {
    const words = ["SET", key, actor.name, "NX", "PX", String(ttlMs)];
    const attempt = async (): Promise<boolean> => (await actor.ask(at, words, { label: "" })) === "OK";
    await poll(actor, at, `SET ${key} NX PX ${ttlMs}`, attempt, everyMs);
    return { leaseMs: ttlMs, isWary, ...(token ? { token: await token() } : {}) };
  });
}

/** GET, compare and DEL in one script. */
export async function deleteOwn(actor: Actor, at: Node, key: string): Promise<void> {
  const pending = actor.recorder.begin("release", key);
  const sentMs = actor.nowMs;
  const isDone = (await actor.ask(at, ["EVAL", deleteIfOwn, "1", key, actor.name], { label: "" })) === 1;
  actor.drawCall(at.name, sentMs, `DEL ${key} if it is mine → ${isDone ? "done" : "it is not"}`);
  if (isDone) pending.ok();
  else pending.fail("not mine");
}

/** DEL, whoever's it is. */
export async function deleteAny(actor: Actor, at: Node, key: string): Promise<void> {
  const pending = actor.recorder.begin("release", key);
  const reply = await actor.ask(at, ["DEL", key]);
  if (reply === 1) pending.ok();
  else pending.fail("there was none");
}
