/** The surroundings of a noun's case: Holdfasts, clients and child processes of its own, and a hand behind their back. */
import assert from "node:assert/strict";
import { type NounCase, RedisLab, runCase } from "@holdfast/conformance";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ioredis } from "./clients.ts";
import { startEmbedded, type TestServer } from "./servers.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startEmbedded();
});

afterAll(() => server.stop());

const cases: readonly NounCase[] = [
  {
    name: "a child process does what a case writes down, and keeps what a later call needs",
    covers: [],
    needs: ["spawn"],
    async run(lab) {
      const name = lab.name();
      const other = await lab.holdfast();
      const child = await lab.spawn();
      const fence = await child.perform(async ({ holdfast, kept }, lock) => {
        const lease = await holdfast.mutex(lock).acquire();
        kept["lease"] = lease;
        return lease.fence;
      }, name);
      assert.equal(typeof fence, "bigint");
      assert.equal(await other.mutex(name).tryAcquire(), null);
      const bytes = await child.perform(
        async ({ kept }, given) => {
          await (kept["lease"] as AsyncDisposable)[Symbol.asyncDispose]();
          return given;
        },
        Uint8Array.of(0, 255),
      );
      assert.deepEqual([...bytes], [0, 255]);
      await other.mutex(name).run(() => {});
      const failing = child.perform(({ kept }) => Object.keys(kept).length.toFixed(1_000), null);
      await expect(failing).rejects.toThrow(/in the contender: RangeError/);
    },
  },
  {
    name: "a case reaches the server behind the library's back, and through a client of no Holdfast",
    covers: [],
    needs: ["proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const holdfast = await lab.holdfast({ through: proxy });
      assert.equal(await lab.command("SET", `${lab.prefix}:seen`, "1"), "OK");
      const client = (await lab.client()) as unknown as { get(key: string): Promise<string | null> };
      assert.equal(await client.get(`${lab.prefix}:seen`), "1");
      await lab.settled(holdfast);
      assert.ok(proxy.requests.length > 0);
    },
  },
];

for (const each of cases) it(each.name, () => runCase(each, new RedisLab(server, ioredis())));
