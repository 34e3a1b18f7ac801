/** The scripts of holdfast, each with keys and arguments as the library sends them. */
import { script as acquire } from "../../src/locks/backends/redis/lua/acquire.lua.js";
import { script as take } from "../../src/locks/backends/redis/lua/acquire-many.lua.js";
import { script as forceRelease } from "../../src/locks/backends/redis/lua/force-release.lua.js";
import { script as heartbeat } from "../../src/locks/backends/redis/lua/heartbeat.lua.js";
import { script as look } from "../../src/locks/backends/redis/lua/look.lua.js";
import { script as release } from "../../src/locks/backends/redis/lua/release.lua.js";
import { script as give } from "../../src/locks/backends/redis/lua/release-many.lua.js";
import { script as renew } from "../../src/locks/backends/redis/lua/renew.lua.js";
import { script as enter } from "../../src/records/lua/enter.lua.js";
import { script as write } from "../../src/records/lua/write.lua.js";
import { lockKeys, recordKey } from "../../src/redis/keys.js";

export interface ScriptCall {
  readonly title: string;
  readonly source: string;
  readonly keys: readonly string[];
  readonly args: readonly string[];
  /** Positions of arguments that are numbers, from 0. */
  readonly numbers: readonly number[];
}

export const LOCK = lockKeys("holdfast", "it");
const [LOCK_KEY = ""] = LOCK;
const RECORD = recordKey("holdfast", "it", "it");

/** What `holder` sends, or `waiter`, or a newcomer. */
export function callsOf(who: string): ScriptCall[] {
  const owner = '{"host":"h","pid":1,"label":"","inbox":"i"}';
  const ask = (wait: string, floor = "0"): string[] => {
    return [who, "1000", "2", floor, owner, wait, "holdfast:inbox:i", "1", "0", "0"];
  };
  const numbers = [1, 2, 3, 8];
  const ofLock = { keys: LOCK, numbers: [] };
  const alone = { keys: [LOCK_KEY], numbers: [] };
  return [
    {
      title: "take",
      source: take.source,
      keys: [LOCK_KEY],
      args: [`86400000 1000 ${owner}`, "2", "86401000", "0", who],
      numbers: [1, 2],
    },
    { title: "acquire", source: acquire.source, keys: LOCK, args: ask("0"), numbers },
    { title: "acquire and wait", source: acquire.source, keys: LOCK, args: ask("1"), numbers },
    { title: "heartbeat", source: heartbeat.source, ...ofLock, args: ["0", who, "2"] },
    { title: "renew", source: renew.source, ...alone, args: [who] },
    { title: "give", source: give.source, ...alone, args: [who] },
    { title: "release", source: release.source, keys: LOCK, args: [who, "0", "0"], numbers: [1] },
    { title: "release and ban", source: release.source, keys: LOCK, args: [who, "1000", "0"], numbers: [1] },
    { title: "force-release", source: forceRelease.source, ...ofLock, args: ["0", "holdfast:inbox:", "0"] },
    { title: "look", source: look.source, ...ofLock, args: ["10"] },
    { title: "enter", source: enter.source, keys: [RECORD], args: ["7", who, ""], numbers: [] },
    {
      title: "write",
      source: write.source,
      keys: [RECORD],
      args: [who, "1", "", "0", "1", 'j"value"', "", "7", who, "", RECORD],
      numbers: [1],
    },
  ];
}

/** How often the text of each script reads the server's clock. */
export function looksInScripts(): Map<string, number> {
  return new Map(
    callsOf("a").map(({ title, source }) => {
      const reads = source.match(/redis\.call\('TIME'\)/g)?.length ?? 0;
      return [title.split(/[ ,]/, 1)[0] ?? "", reads];
    }),
  );
}
