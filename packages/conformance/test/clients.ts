/** The client libraries of the matrix, set up as a careful user would. `ca` is that of a server that speaks TLS. */
import type { LabClients, OpenClient } from "@holdfast/conformance";
import { GlideClient, Logger } from "@valkey/valkey-glide";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { Redis as Iovalkey } from "iovalkey";
import { createClient } from "redis";
import { createClient as createClient4 } from "redis4";
import { createClient as createClient5 } from "redis5";

const RECONNECT_MS = 20;
/** What all of the library's own limits are set to: longer than any of a case. */
const LIMIT_MS = 10_000;

export function ioredis(protocol: 2 | 3 = 3): LabClients {
  return ioredisLike(
    `ioredis 6, RESP${protocol}`,
    (url, options) => new Redis(url, { ...options, protocol }),
  );
}

export function ioredis5(): LabClients {
  return ioredisLike("ioredis 5", (url, options) => new Redis5(url, options));
}

export function iovalkey(): LabClients {
  return ioredisLike("iovalkey", (url, options) => new Iovalkey(url, options));
}

export function nodeRedis(protocol: 2 | 3 = 3): LabClients {
  return nodeRedisLike(`node-redis 6, RESP${protocol}`, (options) =>
    createClient({ ...options, RESP: protocol }),
  );
}

export function nodeRedis5(protocol: 2 | 3 = 3): LabClients {
  return nodeRedisLike(`node-redis 5, RESP${protocol}`, (options) =>
    createClient5({ ...options, RESP: protocol }),
  );
}

export function nodeRedis4(): LabClients {
  return nodeRedisLike("node-redis 4", (options) => createClient4(options));
}

export function glide(): LabClients {
  Logger.init("off");
  return {
    title: "valkey-glide",
    async open(url, ca): Promise<OpenClient> {
      const { hostname, port, username, password } = new URL(url);
      const client = await GlideClient.createClient({
        addresses: [{ host: hostname, port: Number(port) }],
        requestTimeout: LIMIT_MS,
        connectionBackoff: { numberOfRetries: 1, factor: RECONNECT_MS, exponentBase: 1 },
        ...(username ? { credentials: { username, password } } : {}),
        ...(ca
          ? { useTLS: true, advancedConfiguration: { tlsAdvancedConfiguration: { rootCertificates: ca } } }
          : {}),
      });
      return { client, close: () => client.close() };
    },
  };
}

interface IoredisOptions {
  readonly retryStrategy: () => number;
  readonly lazyConnect: true;
  readonly tls?: { readonly ca: string };
}

type Emitter = { on(event: "error", listener: () => void): unknown };
type IoredisLike = OpenClient["client"] & Emitter & { connect(): Promise<unknown>; disconnect(): void };

function ioredisLike(title: string, make: (url: string, options: IoredisOptions) => IoredisLike): LabClients {
  return {
    title,
    async open(url, ca) {
      const client = make(url, {
        retryStrategy: () => RECONNECT_MS,
        lazyConnect: true,
        ...(ca ? { tls: { ca } } : {}),
      });
      client.on("error", () => {});
      await client.connect();
      return { client, close: () => client.disconnect() };
    },
  };
}

interface NodeRedisOptions {
  readonly url: string;
  readonly socket: { readonly reconnectStrategy: number; readonly tls?: true; readonly ca?: string };
}

type NodeRedisLike = OpenClient["client"] &
  Emitter & {
    readonly isOpen: boolean;
    connect(): Promise<unknown>;
    destroy?(): void;
    disconnect(): Promise<unknown>;
  };

function nodeRedisLike(title: string, make: (options: NodeRedisOptions) => NodeRedisLike): LabClients {
  return {
    title,
    async open(url, ca) {
      const socket = { reconnectStrategy: RECONNECT_MS, ...(ca ? { tls: true as const, ca } : {}) };
      const client = make({ url, socket });
      client.on("error", () => {});
      await client.connect();
      return {
        client,
        close() {
          if (!client.isOpen) return;
          if (client.destroy) client.destroy();
          else void client.disconnect();
        },
      };
    },
  };
}
