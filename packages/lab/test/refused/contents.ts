/** What an engine holds, as text that can be compared and put into another one. */
import type { Reply } from "../../src/sim/resp.js";

export interface Entry {
  readonly key: string;
  readonly type: string;
  /** ms since 1970; -1: it has no end. */
  readonly endMs: number;
  /** As the command that reads all of it answers. */
  readonly content: readonly string[];
}

export type Contents = readonly Entry[];

const reader = `
local found = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  local kind = redis.call('TYPE', key).ok
  local content
  if kind == 'string' then content = { redis.call('GET', key) }
  elseif kind == 'list' then content = redis.call('LRANGE', key, 0, -1)
  elseif kind == 'hash' then content = redis.call('HGETALL', key)
  elseif kind == 'set' then content = redis.call('SMEMBERS', key)
  elseif kind == 'zset' then content = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end
  found[#found + 1] = { key, kind, redis.call('PEXPIRETIME', key), content }
end
return found`;

/** To be sent: {@link contentsOf} reads the answer. */
export const readContents: readonly string[] = ["EVAL", reader, "0"];

export function contentsOf(reply: Reply | undefined): Contents {
  if (!Array.isArray(reply)) throw new Error(`no contents: ${String(reply)}`);
  return (reply as [string, string, number, string[]][])
    .map(([key, type, endMs, content]) => ({ key, type, endMs, content: inOrder(type, content) }))
    .sort((one, other) => (one.key < other.key ? -1 : 1));
}

/** The fields of a hash and the members of a set have no order of their own. */
function inOrder(type: string, content: readonly string[]): readonly string[] {
  if (type === "set") return [...content].sort();
  if (type !== "hash") return content;
  const pairs = content.flatMap((field, at) =>
    at % 2 === 0 ? [[field, content[at + 1] ?? ""] as const] : [],
  );
  return pairs.sort(([one], [other]) => (one < other ? -1 : 1)).flat();
}

/** The commands that make these contents in an empty engine. */
export function commandsFor(contents: Contents): string[][] {
  return contents.flatMap(({ key, type, endMs, content }) => {
    const written = writing(key, type, content);
    return endMs < 0 ? [written] : [written, ["PEXPIREAT", key, String(endMs)]];
  });
}

function writing(key: string, type: string, content: readonly string[]): string[] {
  if (type === "string") return ["SET", key, ...content];
  if (type === "list") return ["RPUSH", key, ...content];
  if (type === "hash") return ["HSET", key, ...content];
  if (type === "set") return ["SADD", key, ...content];
  const scored = content.flatMap((member, at) => (at % 2 === 0 ? [content[at + 1] ?? "", member] : []));
  return ["ZADD", key, ...scored];
}

/** The keys that differ, with what they were and are; none: the two are the same. */
export function differences(before: Contents, after: Contents): string[] {
  const [was, is] = [byKey(before), byKey(after)];
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((key) => was.get(key) !== is.get(key))
    .map((key) => `${key}: ${was.get(key) ?? "absent"} -> ${is.get(key) ?? "absent"}`);
}

function byKey(contents: Contents): Map<string, string> {
  return new Map(
    contents.map(({ key, type, endMs, content }) => [key, `${type} ${endMs} ${JSON.stringify(content)}`]),
  );
}
