/** How a client of each family is opened, used and closed, whatever its options. */
import type { OpenClient } from "@holdfast/conformance";
import type { GlideClientConfiguration } from "@valkey/valkey-glide";

export interface Opened extends OpenClient {
  send(...words: string[]): Promise<unknown>;
}

/** Resolves when the connection stands. */
export type Open = (url: string) => Promise<Opened>;

type Emitter = OpenClient["client"] & { on(event: "error", listener: () => void): unknown };

type IoredisLike = Emitter & {
  ping(): Promise<unknown>;
  call(command: string, ...rest: string[]): Promise<unknown>;
  disconnect(): void;
};

export function openIoredis(make: (url: string) => IoredisLike): Open {
  return async (url) => {
    const client = make(url);
    client.on("error", () => {});
    await client.ping();
    return {
      client,
      send: (command = "", ...rest) => client.call(command, ...rest),
      close: () => client.disconnect(),
    };
  };
}

type NodeRedisLike = Emitter & {
  readonly isOpen: boolean;
  connect(): Promise<unknown>;
  sendCommand(words: string[]): Promise<unknown>;
  /** Of versions 5 and 6, where `disconnect` is deprecated. */
  destroy?(): void;
  disconnect(): Promise<unknown>;
};

export function openNodeRedis(make: (url: string) => NodeRedisLike): Open {
  return async (url) => {
    const client = make(url);
    client.on("error", () => {});
    await client.connect();
    return {
      client,
      send: (...words) => client.sendCommand(words),
      close() {
        if (!client.isOpen) return;
        if (client.destroy) client.destroy();
        else void client.disconnect();
      },
    };
  };
}

export function openGlide(options: Partial<GlideClientConfiguration> = {}): Open {
  return async (url) => {
    const { GlideClient, Logger } = await import("@valkey/valkey-glide");
    Logger.init("off");
    const { hostname, port, username, password } = new URL(url);
    const client = await GlideClient.createClient({
      addresses: [{ host: hostname, port: Number(port) }],
      ...(username ? { credentials: { username, password } } : {}),
      ...options,
    });
    return { client, send: (...words) => client.customCommand(words), close: () => client.close() };
  };
}
