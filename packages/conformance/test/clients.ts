/**
 * The client libraries of the matrix, set up as a careful user would. `ca` is that of a server that speaks TLS.
 * Each is loaded when it is opened: all of them together would cost every file of cases more than a second.
 */
import type { LabClients } from "@holdfast/conformance";
import { openGlide, openIoredis, openNodeRedis } from "./openers.ts";

const RECONNECT_MS = 20;
/** GLIDE's own limit, longer than any of a case. */
const GLIDE_REQUEST_MS = 10_000;

const ioredisOptions = (ca?: string) => ({
  retryStrategy: () => RECONNECT_MS,
  ...(ca ? { tls: { ca } } : {}),
});

/**
 * node-redis 5 and 6 make a class with a method for every command, a hundred times the work of a client, whenever the
 * options are not those of the client before, as JSON. Where a client connects to makes no difference to the class.
 */
const nodeRedisOptions = (url: string, ca?: string) => ({
  toJSON(this: { RESP?: 2 | 3 }) {
    return { RESP: this.RESP };
  },
  url,
  socket: { reconnectStrategy: RECONNECT_MS, ...(ca ? { tls: true as const, ca } : {}) },
});

export function ioredis(protocol: 2 | 3 = 3): LabClients {
  return {
    title: `ioredis 6, RESP${protocol}`,
    async open(url, ca) {
      const { Redis } = await import("ioredis");
      return openIoredis((at) => new Redis(at, { ...ioredisOptions(ca), protocol }))(url);
    },
  };
}

export function ioredis5(): LabClients {
  return {
    title: "ioredis 5",
    async open(url, ca) {
      const { Redis } = await import("ioredis5");
      return openIoredis((at) => new Redis(at, ioredisOptions(ca)))(url);
    },
  };
}

export function iovalkey(): LabClients {
  return {
    title: "iovalkey",
    async open(url, ca) {
      const { Redis } = await import("iovalkey");
      return openIoredis((at) => new Redis(at, ioredisOptions(ca)))(url);
    },
  };
}

export function nodeRedis(protocol: 2 | 3 = 3): LabClients {
  return {
    title: `node-redis 6, RESP${protocol}`,
    async open(url, ca) {
      const { createClient } = await import("redis");
      return openNodeRedis((at) => createClient({ ...nodeRedisOptions(at, ca), RESP: protocol }))(url);
    },
  };
}

export function nodeRedis5(protocol: 2 | 3 = 2): LabClients {
  return {
    title: `node-redis 5, RESP${protocol}`,
    async open(url, ca) {
      const { createClient } = await import("redis5");
      return openNodeRedis((at) => createClient({ ...nodeRedisOptions(at, ca), RESP: protocol }))(url);
    },
  };
}

export function nodeRedis4(): LabClients {
  return {
    title: "node-redis 4",
    async open(url, ca) {
      const { createClient } = await import("redis4");
      return openNodeRedis((at) => createClient(nodeRedisOptions(at, ca)))(url);
    },
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

/** Every library and major version, and both versions of the protocol where there is a choice. */
export const everyClient = (): LabClients[] => [
  ...[ioredis(), ioredis(2), ioredis5(), iovalkey()],
  ...[nodeRedis(), nodeRedis(2), nodeRedis5(), nodeRedis5(3), nodeRedis4()],
  glide(),
];
