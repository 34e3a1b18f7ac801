/** Recipes for many readers or one writer: each as its text says, with the mistakes that are in the text. */
import type { ReadLock, RwLock, WriteLock } from "holdfast";
import type { Node } from "../sim/node.js";
import type { Actor } from "./actor.js";
import { poll } from "./recipes.js";

export type Side = "read" | "write";

/** One way to lock. It resolves when the actor is in, to the function by which it leaves. */
export type Access = (actor: Actor, at: Node, side: Side) => Promise<() => Promise<void>>;

export const ttlMs = 10_000;

const enter: Readonly<Record<Side, string>> = {
  read: `if redis.call("EXISTS", KEYS[2], KEYS[3]) > 0 then return 0 end
redis.call("HSET", KEYS[1], ARGV[1], 1) return redis.call("PEXPIRE", KEYS[1], ARGV[2])`,
  write: `if redis.call("EXISTS", KEYS[1], KEYS[2]) == 0 then redis.call("SET", KEYS[2], ARGV[1], "PX", ARGV[2]) return 1 end
if KEYS[3] ~= "none" then redis.call("SET", KEYS[3], 1, "PX", 1000) end return 0`,
};
const leave: Readonly<Record<Side, string>> = {
  read: `return redis.call("HDEL", KEYS[1], ARGV[1])`,
  write: `return redis.call("DEL", KEYS[2])`,
};

/** A hash of the readers with one expiry, and a key of the writer. */
function counted(wanted: string): Access {
  return async (actor, at, side) => {
    const words = (script: string): string[] => {
      return ["EVAL", script, "3", "readers", "writer", wanted, actor.name, String(ttlMs)];
    };
    const held = await actor.takes(`lock:${side}`, async () => {
      const attempt = async (): Promise<boolean> =>
        (await actor.ask(at, words(enter[side]), { label: "" })) === 1;
      await poll(actor, at, `enter to ${side}`, attempt);
      return side === "write" ? { leaseMs: ttlMs } : {};
    });
    return async () => {
      held.end();
      const pending = actor.recorder.begin("release", `lock:${side}`);
      await actor.ask(at, words(leave[side]), { label: "" });
      pending.ok();
    };
  };
}

/** Readers enter whenever nobody writes. */
export const readersBarge = counted("none");
/** Readers do not enter while a writer waits. */
export const writersFirst = counted("wanted");

export const rwLock: Access = async (actor, at, side) => {
  const lock: RwLock = actor.holdfast(at).rwLock("lock", { ttl: ttlMs });
  const of: ReadLock | WriteLock = side === "read" ? lock.read() : lock.write();
  const lease = await actor.acquire(of, at, { wait: Number.POSITIVE_INFINITY });
  const held = actor.possess({ key: `lock:${side}`, lease });
  return async () => {
    held.end();
    await actor.release(lease, at);
  };
};
