/** The client libraries of the matrix, set up as a careful user would. `ca` is that of a server that speaks TLS. */
import type { LabClients } from "@holdfast/conformance";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { Redis as Iovalkey } from "iovalkey";
import { createClient } from "redis";
import { createClient as createClient4 } from "redis4";
import { createClient as createClient5 } from "redis5";
import { openGlide, openIoredis, openNodeRedis } from "./openers.ts";

const RECONNECT_MS = 20;
/** GLIDE's own limit, longer than any of a case. */
const GLIDE_REQUEST_MS = 10_000;

const ioredisOptions = (ca?: string) => ({
  retryStrategy: () => RECONNECT_MS,
  ...(ca ? { tls: { ca } } : {}),
});

const nodeRedisOptions = (url: string, ca?: string) => ({
  url,
  socket: { reconnectStrategy: RECONNECT_MS, ...(ca ? { tls: true as const, ca } : {}) },
});

export function ioredis(protocol: 2 | 3 = 3): LabClients {
  return {
    title: `ioredis 6, RESP${protocol}`,
    open: (url, ca) => openIoredis((at) => new Redis(at, { ...ioredisOptions(ca), protocol }))(url),
  };
}

export function ioredis5(): LabClients {
  return {
    title: "ioredis 5",
    open: (url, ca) => openIoredis((at) => new Redis5(at, ioredisOptions(ca)))(url),
  };
}

export function iovalkey(): LabClients {
  return {
    title: "iovalkey",
    open: (url, ca) => openIoredis((at) => new Iovalkey(at, ioredisOptions(ca)))(url),
  };
}

export function nodeRedis(protocol: 2 | 3 = 3): LabClients {
  return {
    title: `node-redis 6, RESP${protocol}`,
    open: (url, ca) =>
      openNodeRedis((at) => createClient({ ...nodeRedisOptions(at, ca), RESP: protocol }))(url),
  };
}

export function nodeRedis5(protocol: 2 | 3 = 2): LabClients {
  return {
    title: `node-redis 5, RESP${protocol}`,
    open: (url, ca) =>
      openNodeRedis((at) => createClient5({ ...nodeRedisOptions(at, ca), RESP: protocol }))(url),
  };
}

export function nodeRedis4(): LabClients {
  return {
    title: "node-redis 4",
    open: (url, ca) => openNodeRedis((at) => createClient4(nodeRedisOptions(at, ca)))(url),
  };
}

export function glide(): LabClients {
  return {
    title: "valkey-glide",
    open: (url, ca) =>
      openGlide({
        requestTimeout: GLIDE_REQUEST_MS,
        connectionBackoff: { numberOfRetries: 1, factor: RECONNECT_MS, exponentBase: 1 },
        ...(ca
          ? { useTLS: true, advancedConfiguration: { tlsAdvancedConfiguration: { rootCertificates: ca } } }
          : {}),
      })(url),
  };
}
