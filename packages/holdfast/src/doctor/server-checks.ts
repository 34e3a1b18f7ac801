/** Checks the kind and version of the server, and its role among replicas. */
import { ServerError } from "../errors.js";
import type { Finding, ServerFacts } from "./report.js";
import type { Fields, ServerState } from "./server-state.js";

type Clockwork = Pick<ServerFacts, "roundTripMs" | "clockOffsetMs" | "clockUncertaintyMs">;

const NUMBER = /^\d+$/;
/** The oldest version of Redis that works. Every Valkey is newer. */
const TESTED_MAJOR = 7;
/** In older versions a script that has read the clock may not write. */
const OLDEST_MAJOR = 5;
const CROWDED_SHARE = 0.9;
/** Room for a few messages of the largest size, 1 MiB. */
const LEAST_BUFFER_BYTES = 4_194_304;

export function factsOf({ info, config }: ServerState, clockwork: Clockwork): ServerFacts {
  const text = (name: string): string | null => info?.get(name) ?? null;
  const kind = info ? kindOf(info) : null;
  const role = text("role");
  return {
    kind,
    version: kind === "valkey" ? text("valkey_version") : text("redis_version"),
    mode: modeOf(text("server_mode") ?? text("redis_mode")),
    role: role === null ? null : role === "slave" || role === "replica" ? "replica" : "primary",
    uptimeSeconds: numberOf(info, "uptime_in_seconds"),
    persistence: persistenceOf(text("aof_enabled"), config),
    replicas: numberOf(info, "connected_slaves"),
    maxMemoryBytes: numberOf(info, "maxmemory"),
    evictionPolicy: text("maxmemory_policy"),
    ...clockwork,
  };
}

export function numberOf(fields: Fields | null, name: string): number | null {
  const text = fields?.get(name) ?? "";
  return NUMBER.test(text) ? Number(text) : null;
}

function kindOf(info: Fields): string | null {
  if (info.has("valkey_version")) return "valkey";
  return info.get("server_name") ?? (info.has("redis_version") ? "redis" : null);
}

const SYNCED: Readonly<Record<string, ServerFacts["persistence"]>> = {
  always: "always",
  everysec: "everysec",
  no: "unsynced",
};

function persistenceOf(appends: string | null, config: Fields | null): ServerFacts["persistence"] {
  if (appends === "1") return SYNCED[config?.get("appendfsync") ?? ""] ?? null;
  const save = config?.get("save");
  if (appends !== "0" || save === undefined) return null;
  return save === "" ? "none" : "snapshots";
}

function modeOf(mode: string | null): ServerFacts["mode"] {
  return mode === "standalone" || mode === "sentinel" || mode === "cluster" ? mode : null;
}

export function checkServer(state: ServerState, facts: ServerFacts): Finding[] {
  return [
    checkVisible(state),
    checkVersion(facts),
    checkMode(facts),
    checkRole(state, facts),
    checkReplication(state, facts),
    checkConnections(state),
    checkBusyThreshold(state),
    checkMessageBuffer(state),
  ].flat();
}

/** Findings for everything that could not be checked. */
function checkVisible({ infoError, configError }: ServerState): Finding[] {
  const findings: Finding[] = [];
  if (infoError) {
    findings.push({
      code: "info-unknown",
      severity: "unknown",
      found: `INFO cannot be read: ${infoError.message}`,
      consequence:
        "Whether locks may be evicted, whether they survive a restart, and whether there are replicas is unknown.",
      remedy: "Allow +info to this user, or run doctor() as another one.",
    });
  }
  if (configError) {
    const refused = configError instanceof ServerError ? "is refused" : "had no answer";
    findings.push({
      code: "config-unknown",
      severity: "unknown",
      found: `CONFIG GET ${refused}: ${configError.message}`,
      consequence:
        "save, appendfsync, stop-writes-on-bgsave-error, min-replicas-to-write, busy-reply-threshold and client-output-buffer-limit are unknown.",
      remedy:
        "Look at them yourself, or run doctor() once as a user with +config|get. A service may not allow it to anybody.",
    });
  }
  return findings;
}

function checkVersion({ kind, version }: ServerFacts): Finding[] {
  const major = Number(/^\d+/.exec(version ?? "")?.[0] ?? Number.NaN);
  if (kind !== "redis" || !(major < TESTED_MAJOR)) return [];
  const tooOld = major < OLDEST_MAJOR;
  return [
    {
      code: "version",
      severity: tooOld ? "error" : "warning",
      found: `the server is Redis ${version}`,
      consequence: tooOld
        ? "It refuses scripts that read the clock and then write: no lock can be taken."
        : "Holdfast is not tested with it: Redis 7.0 and Valkey 8.0 are the oldest that are.",
      remedy: "Use Redis 7.0, Valkey 8.0, or newer.",
    },
  ];
}

function checkMode({ mode }: ServerFacts): Finding[] {
  if (mode === "sentinel") {
    return [
      {
        code: "mode",
        severity: "error",
        found: "the client is connected to a Sentinel",
        consequence: "A Sentinel keeps no data: every lock is refused.",
        remedy: "Give the client the names of the Sentinels and of the primary, in its options for Sentinel.",
      },
    ];
  }
  if (mode !== "cluster") return [];
  return [
    {
      code: "mode",
      severity: "error",
      found: "the server is one node of a cluster, and the client knows this node only",
      consequence:
        "Locks whose slot another node serves are refused with MOVED, and leases of different slots with CROSSSLOT.",
      remedy: "Use a server that is no part of a cluster, alone or behind Sentinel.",
    },
  ];
}

function checkRole({ info }: ServerState, { role }: ServerFacts): Finding[] {
  if (role !== "replica") return [];
  const [host, port, link] = ["master_host", "master_port", "master_link_status"].map((name) =>
    info?.get(name),
  );
  const writable = info?.get("slave_read_only") === "0";
  const primary = host ? ` of ${host}:${port} (link ${link})` : "";
  return [
    {
      code: "replica",
      severity: "error",
      found: `the server is a ${writable ? "writable " : ""}replica${primary}`,
      consequence: writable
        ? "The primary does not know the locks that are taken here, and the next full synchronisation removes them."
        : "It takes no writes: every lock is refused with READONLY until it is promoted.",
      remedy: `Connect to the primary${host ? ` at ${host}:${port}` : ""}; behind Sentinel, let the client ask for it.`,
    },
  ];
}

function checkReplication({ info, config }: ServerState, { role, replicas }: ServerFacts): Finding[] {
  if (role !== "primary" || !replicas) return [];
  // With a minimum INFO counts the good ones, so that it can be told apart without CONFIG.
  const minimum = numberOf(config, "min-replicas-to-write");
  const bounded = minimum === null ? info?.has("min_slaves_good_slaves") : minimum > 0;
  const lagS = config?.get("min-replicas-max-lag");
  const count = `${replicas} replica${replicas === 1 ? "" : "s"}`;
  const promoted =
    "Replication is asynchronous: a replica that is promoted may lack the last grants, and the name has two holders.";
  return [
    bounded
      ? {
          code: "replication",
          severity: "info",
          found: `the server has ${count}, and takes writes while enough of them are in step`,
          consequence: `${promoted} A primary that is cut off stops granting${lagS ? ` after ${lagS} s` : ""}.`,
          remedy: "Fence what the locks protect: tokens rise across a failover.",
        }
      : {
          code: "replication",
          severity: "warning",
          found: `the server has ${count}, and takes writes also when it has lost them (min-replicas-to-write 0)`,
          consequence: `${promoted} A primary that is cut off goes on granting until somebody demotes it.`,
          remedy:
            "Set min-replicas-to-write 1 and min-replicas-max-lag 10, and fence what the locks protect: tokens rise across a failover.",
        },
  ];
}

function checkConnections({ info }: ServerState): Finding[] {
  const used = numberOf(info, "connected_clients");
  const most = numberOf(info, "maxclients");
  if (used === null || most === null || used < most * CROWDED_SHARE) return [];
  return [
    {
      code: "connections",
      severity: "warning",
      found: `${used} of ${most} connections are in use (maxclients)`,
      consequence: "A process that starts, or wants to hear of its turn, may get no connection.",
      remedy: "Raise maxclients, or find out who keeps so many connections.",
    },
  ];
}

function checkBusyThreshold({ config }: ServerState): Finding[] {
  const text = config?.get("busy-reply-threshold");
  if (text === undefined || Number(text) > 0) return [];
  return [
    {
      code: "busy-threshold",
      severity: "warning",
      found: `busy-reply-threshold is ${text}`,
      consequence:
        "A script that does not end blocks the server without a word: calls end as unknown, and SCRIPT KILL is not heard.",
      remedy: "Set busy-reply-threshold to its default, 5000.",
    },
  ];
}

/** Messages that wait for a process which does not read them: too little room loses its subscription, no limit fills the server. */
function checkMessageBuffer({ config }: ServerState): Finding[] {
  const limits = config?.get("client-output-buffer-limit") ?? "";
  const [, hard, soft] = /\bpubsub (\d+) (\d+) \d+/.exec(limits) ?? [];
  if (hard === undefined || soft === undefined) return [];
  const set = [hard, soft].map(Number).filter((bytes) => bytes > 0);
  if (set.length > 0 && Math.min(...set) >= LEAST_BUFFER_BYTES) return [];
  const least = set.length > 0 ? `${Math.min(...set)} bytes` : "not limited";
  return [
    {
      code: "message-buffer",
      severity: "warning",
      found: `the messages that a process has not read are ${set.length > 0 ? `limited to ${least}` : least} (client-output-buffer-limit pubsub)`,
      consequence:
        set.length > 0
          ? "A process that is slow to read a few large messages loses its subscription: signals are lost until it has subscribed again, and its waits learn of changes later."
          : "A process that is stopped while its connection is open fills the memory of the server with messages.",
      remedy: 'Set client-output-buffer-limit "pubsub 32mb 8mb 60", which is the default.',
    },
  ];
}
