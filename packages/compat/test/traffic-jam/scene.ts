/** What each test of TrafficJam starts with: a configuration of its own on one server, and counts of what was sent. */
import type { Redis } from "ioredis";
import { beforeEach } from "vitest";
import { Configuration, holdfastOf } from "../../src/traffic-jam/index.ts";
import { onEachServer, type Place } from "../place.ts";

export interface Scene {
  readonly place: Place;
  readonly config: Configuration;
  /** A value that no other test has. */
  readonly value: string;
  /** How many commands the server runs while `work` does, without those that count. */
  commands(work: () => Promise<unknown>): Promise<number>;
  /** What the server is sent meanwhile, and what scripts run: the names of the commands. */
  sent(work: () => Promise<unknown>): Promise<string[]>;
  /** Keys of this configuration. */
  keys(): Promise<string[]>;
}

/** Declares the suite once for each server. `scene()` is this test's. */
export function onEachScene(suite: (scene: () => Scene) => void): void {
  onEachServer((place) => {
    let scene: Scene;
    beforeEach(() => {
      scene = makeScene(place());
    });
    suite(() => scene);
  });
}

/** Nothing here is about a server that is slow, and a machine that runs many suites is. */
export function configOver(client: Redis, keyPrefix: string): Configuration {
  holdfastOf(client, { prefix: keyPrefix, callTimeout: "15s" });
  return new Configuration({ redis: client, keyPrefix });
}

function makeScene(place: Place): Scene {
  const value = place.name();
  const client = place.client();
  const config = configOver(client, `tj-${value}`);
  const processed = async (): Promise<number> =>
    Number(/total_commands_processed:(\d+)/.exec(await place.admin.info("stats"))?.[1]);
  return {
    place,
    config,
    value,
    async commands(work) {
      // What the client says of itself when it connects is sent by then.
      await client.ping();
      const before = await processed();
      await work();
      return (await processed()) - before - 1;
    },
    async sent(work) {
      const monitor = await place.admin.monitor();
      const names: string[] = [];
      const marked = new Promise<void>((resolve) => {
        monitor.on("monitor", (_: string, [name = "", text = ""]: string[]) => {
          if (name.toLowerCase() === "echo" && text === value) resolve();
          else names.push(name.toUpperCase());
        });
      });
      await work();
      await place.admin.echo(value);
      await marked;
      monitor.disconnect();
      return names;
    },
    keys: async () => (await place.admin.keys(`${config.keyPrefix}:*`)).sort(),
  };
}
