/** Programs that share no keys share no messages: apart by database, by the prefix of the client, or by the `prefix` of one that another continues. */
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Holdfast } from "../src/index.js";

let server: EmbeddedValkey;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
});

afterAll(() => server.stop());

const DAY = { keep: "1d" } as const;

interface Program {
  readonly client?: { readonly db: number } | { readonly keyPrefix: string };
  readonly prefix?: string;
}

const pairs: readonly (readonly [string, Program, Program])[] = [
  ["a database", { client: { db: 0 } }, { client: { db: 1 } }],
  ["a keyPrefix", { client: { keyPrefix: "one:" } }, { client: { keyPrefix: "two:" } }],
  ["a prefix that continues another", { prefix: "a" }, { prefix: "a:signal:b" }],
];

describe.each(pairs)("apart by %s", (_, ...programs) => {
  test("none hears a signal, a change or a set of the other, and none counts its listeners [H79]", async () => {
    const clients = programs.map(({ client = {} }) => new Redis(server.url, client));
    const [one, two, likeOne] = [0, 1, 0].map((place) => {
      const prefix = programs[place]?.prefix;
      return new Holdfast(clients[place] as Redis, { callTimeout: "10s", ...(prefix && { prefix }) });
    }) as [Holdfast, Holdfast, Holdfast];
    try {
      await one.record("it").put("of one");
      const seen: unknown[] = [];
      const changes = one.record("it").watch();
      seen.push((await changes.next()).value?.value);
      const everything = await one.signals.matching("*").listen();
      const listener = await one.signal("it").listen();
      let finish = (): void => {};
      const isRunning = new Promise<void>((running) => {
        void one.once(
          "it",
          () =>
            new Promise((done) => {
              running();
              finish = () => done("of one");
            }),
          DAY,
        );
      });
      await isRunning;
      const once = likeOne.once("it", () => "again", DAY);
      const stop = new AbortController();
      const waits = [
        one.event("it").wait({ wait: "1h", signal: stop.signal }),
        one.latch("it", 1).wait({ wait: "1h", signal: stop.signal }),
      ].map((wait) => wait.catch(() => "nothing"));
      for (const each of [one, two]) for (let n = 0; n < 3; n += 1) await each.event("other").set();

      expect(await two.signal("it").emit("secret")).toBe(0);
      expect(await two.signal("it").emitOne("secret")).toBe(false);
      await two.record("it").put("of two");
      await two.once("it", () => "of two", DAY);
      await two.event("it").set("of two");
      await two.latch("it", 1).countDown();

      expect(await one.signal("it").emit("own")).toBe(1);
      expect((await listener.next()).value?.data).toBe("own");
      expect(await everything.next()).toMatchObject({ value: { name: "it", data: "own" } });
      expect(everything.take()).toBeNull();
      await one.record("it").put("newer");
      seen.push((await changes.next()).value?.value);
      expect(seen).toEqual(["of one", "newer"]);
      finish();
      expect(await once).toEqual({ ran: false, value: "of one" });
      stop.abort();
      expect(await Promise.all(waits)).toEqual(["nothing", "nothing"]);
    } finally {
      await Promise.all([one, two, likeOne].map((each) => each.close()));
      for (const client of clients) client.disconnect();
    }
  });
});
