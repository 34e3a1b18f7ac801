/** Checks whether the server keeps its data: eviction, memory, persistence. */
import type { Finding, ServerFacts } from "./report.js";
import { numberOf } from "./server-checks.js";
import type { ServerState } from "./server-state.js";

const FULL_SHARE = 0.9;
/** The operating system in INFO of the embedded Valkey. */
const EMBEDDED_OS = "wasi ";

/** The embedded Valkey keeps nothing by design, and has no setting that would change it. */
const inMemory: Finding = {
  code: "persistence",
  severity: "info",
  found: "this is the embedded Valkey, which keeps its data in memory",
  consequence:
    "When its process ends, all locks and tokens are gone, and so are those who use it over the loopback.",
  remedy: "It is for tests and for trying things out: in production use a server of its own.",
};

export function checkStorage(state: ServerState, facts: ServerFacts): Finding[] {
  if (!state.info) return [];
  return [
    checkEviction(facts),
    checkMemory(state, facts),
    checkSaving(state),
    facts.role === "replica" ? [] : checkPersistence(state),
  ].flat();
}

function checkEviction({ evictionPolicy, maxMemoryBytes }: ServerFacts): Finding[] {
  if (evictionPolicy === null || evictionPolicy === "noeviction") return [];
  const limited = maxMemoryBytes !== 0;
  const [gone, ofQueues] = evictionPolicy.startsWith("volatile")
    ? [
        "keys with a ttl, and all keys of locks have one",
        "Queues and lanes forget their results, and which ids for dedupe they have seen",
      ]
    : ["any key", "Queues and lanes lose messages, or all of them at once"];
  return [
    {
      code: "eviction",
      severity: limited ? "error" : "info",
      found: `maxmemory-policy is ${evictionPolicy}, maxmemory is ${limited ? `${maxMemoryBytes} bytes` : "not set"}`,
      consequence: limited
        ? `A server that is full throws away ${gone}: a lock that is held vanishes, and the next caller gets it as well. The holder learns of it at its next renewal. Records lose their values and their fences, and results of once are forgotten. ${ofQueues}.`
        : "Nothing is evicted as long as there is no limit. With one, locks that are held, records and messages may be.",
      remedy: "Set maxmemory-policy noeviction, and keep a cache that needs eviction on another server.",
    },
  ];
}

function checkMemory({ info }: ServerState, { evictionPolicy, maxMemoryBytes }: ServerFacts): Finding[] {
  const used = numberOf(info, "used_memory");
  if (!maxMemoryBytes || used === null || used < maxMemoryBytes * FULL_SHARE) return [];
  return [
    {
      code: "memory",
      severity: "warning",
      found: `${used} of ${maxMemoryBytes} bytes are in use (maxmemory)`,
      consequence:
        evictionPolicy === "noeviction"
          ? "Once it is full, locks and pushes are refused with OOM."
          : "Once it is full, keys are evicted.",
      remedy: "Raise maxmemory, or remove data.",
    },
  ];
}

/** Reports that the server is set to save its data and fails to. */
function checkSaving({ info, config }: ServerState): Finding[] {
  const failed = [
    ...(info?.get("rdb_last_bgsave_status") === "err" ? ["snapshot"] : []),
    ...(info?.get("aof_last_write_status") === "err" ? ["write to the append-only file"] : []),
    ...(info?.get("aof_last_bgrewrite_status") === "err" ? ["rewrite of the append-only file"] : []),
  ];
  if (failed.length === 0) return [];
  const stops = config?.get("stop-writes-on-bgsave-error") !== "no";
  return [
    {
      code: "saving-fails",
      severity: "error",
      found: `the last ${failed.join(" and the last ")} failed`,
      consequence: stops
        ? "The server refuses writes with MISCONF as long as it is meant to save and cannot."
        : "It goes on without saving: a restart comes back with the locks of the last time that worked.",
      remedy: "Look into the log of the server: its disk is full, or its folder not writable.",
    },
  ];
}

function checkPersistence({ info, config }: ServerState): Finding[] {
  const save = config?.get("save");
  if (!info?.has("aof_enabled")) return [];
  if (info.get("aof_enabled") === "1") return checkFsync(config?.get("appendfsync"));
  if (info.get("os")?.startsWith(EMBEDDED_OS)) return [inMemory];
  const nothing = save === "";
  const snapshots =
    save === undefined ? "whether it takes snapshots is unknown" : `it takes snapshots (save ${save})`;
  return [
    {
      code: "persistence",
      severity: "warning",
      found: `the server keeps no append-only file (appendonly no), ${nothing ? "and takes no snapshots" : `and ${snapshots}`}`,
      consequence: nothing
        ? "After a restart every name is free: another process can take a lock whose holder goes on until its next renewal, about a third of its ttl later. Records lose their values and forget which tokens they have seen, and events, latches and barriers begin anew. Queues and lanes are empty."
        : "After a crash it comes back with its last snapshot: locks taken since then are free, and another process can take them while their holders go on until their next renewal. Records lose the writes and the tokens of that time, too. Queues and lanes lose the messages that were pushed since then, and deliver again what was acknowledged.",
      remedy:
        "Set appendonly yes with appendfsync everysec, and fence what the locks protect. Locks that only avoid double work do not need it.",
    },
  ];
}

function checkFsync(fsync: string | undefined): Finding[] {
  if (fsync !== "everysec" && fsync !== "no") return [];
  const lost = fsync === "no" ? "the last half minute or so" : "the last second";
  return [
    {
      code: "persistence",
      severity: fsync === "no" ? "warning" : "info",
      found: `the append-only file is written to the disk with appendfsync ${fsync}`,
      consequence: `A machine that loses power may forget the grants and the messages of ${lost}; a server that is only killed forgets none.`,
      remedy:
        fsync === "no"
          ? "Set appendfsync everysec, or always."
          : "Set appendfsync always where that matters; it makes every grant wait for the disk.",
    },
  ];
}
