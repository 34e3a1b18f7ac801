/** Several independent servers for one question: what they do together is the sum of what each does. */
import { RedisServer, type ServerFigures, type Servers } from "./redis-server.js";
import { sum } from "./statistics.js";

export class RedisServers implements Servers {
  readonly #servers: readonly RedisServer[];

  private constructor(servers: readonly RedisServer[]) {
    this.#servers = servers;
  }

  /** @throws {NoRedisServer} */
  static async start(count: number): Promise<RedisServers> {
    const starts = await Promise.allSettled(Array.from({ length: count }, () => RedisServer.start()));
    const started = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
    const failed = starts.find((start) => start.status === "rejected");
    if (!failed) return new RedisServers(started);
    await Promise.all(started.map((server) => server.stop()));
    throw failed.reason;
  }

  get ports(): readonly number[] {
    return this.#servers.map(({ port }) => port);
  }

  async flush(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.flush()));
  }

  async during<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly server: ServerFigures }> {
    const done: ServerFigures[] = [];
    const measured = this.#servers.reduceRight(
      (inner, server) => async () => {
        const { result, server: figures } = await server.during(inner);
        done.push(figures);
        return result;
      },
      work,
    );
    const result = await measured();
    const total = (of: (figures: ServerFigures) => number): number => sum(done.map(of));
    return {
      result,
      server: {
        commands: total(({ commands }) => commands),
        reads: total(({ reads }) => reads),
        bytesIn: total(({ bytesIn }) => bytesIn),
        bytesOut: total(({ bytesOut }) => bytesOut),
        expiredKeys: total(({ expiredKeys }) => expiredKeys),
        cpuMs: total(({ cpuMs }) => cpuMs),
      },
    };
  }

  /** Of the first server: a count is kept at one. */
  async numberAt(key: string): Promise<number> {
    return (await this.#servers[0]?.numberAt(key)) ?? Number.NaN;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop()));
  }
}
