/** The resource's side: a record that refuses holders who were overtaken. */
import assert from "node:assert/strict";
import { ClosedError, InvalidArgumentError, StaleTokenError } from "holdfast";
import type { LockCase } from "../case.js";
import { rejection } from "../rejection.js";
import { LONG_TTL_MS } from "../standing.js";
import { take } from "./rivals.js";

const BEYOND_DOUBLE = 2n ** 60n;

async function assertStale(
  call: Promise<unknown>,
  resource: string,
  token: bigint,
  seen: bigint,
): Promise<void> {
  const error = await rejection(call);
  assert.ok(error instanceof StaleTokenError, `StaleTokenError, not ${String(error)}`);
  assert.deepEqual(
    [error.code, error.resource, error.token, error.seen],
    ["STALE_TOKEN", resource, token, seen],
  );
}

export const fencingCases: readonly LockCase[] = [
  {
    name: "a record keeps what its holder writes, and shows it to onlookers",
    covers: [],
    needs: ["redis"],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const name = lab.name();
      const record = lab.record(holdfast, name);
      assert.equal(await record.get(), null);
      const lease = await take(holdfast, name);
      assert.equal(await record.get({ fence: lease }), null);
      for (const value of [
        "1",
        "",
        "two\nlines",
        "\u{1f512}\0",
        { a: [1, null] },
        new Uint8Array([0, 255]),
      ]) {
        const { version } = await record.put(value, { fence: lease });
        assert.deepEqual(await record.get({ fence: lease }), { value, version, fence: lease.fence });
        assert.deepEqual(await record.get(), { value, version, fence: lease.fence });
      }
    },
  },
  {
    name: "a holder that was overtaken is refused with both tokens, and changes nothing",
    covers: ["Redisson #5044: enforcement is on the developer's side", "redlock: a paused holder writes on"],
    needs: ["tamper", "redis"],
    async run(lab) {
      const clock = lab.manualClock();
      const [paused, next] = [await lab.holdfast({ clock }), await lab.holdfast()];
      const name = lab.name();
      const old = await take(paused, name, { ttl: LONG_TTL_MS });
      const record = lab.record(paused, name);
      await record.get({ fence: old });
      await record.put("by the first", { fence: old });
      await lab.tamper.forget(name); // its time at the server is over; it does not know
      assert.equal(old.valid, true);
      const newer = await take(next, name);
      const entered = await lab.record(next, name).get({ fence: newer });
      assert.equal(entered?.value, "by the first");
      await assertStale(record.put("too late", { fence: old }), name, old.fence, newer.fence);
      await assertStale(record.get({ fence: old }), name, old.fence, newer.fence);
      assert.deepEqual(await record.get(), entered);
      const { version } = await lab.record(next, name).put("by the second", { fence: newer });
      assert.deepEqual(await record.get(), { value: "by the second", version, fence: newer.fence });
    },
  },
  {
    name: "an equal token of another holder is refused [H43, H63]",
    covers: ["tokens that repeat after a failover"],
    needs: ["redis"],
    async run(lab) {
      const record = lab.record(await lab.holdfast(), lab.name());
      const [one, other] = [
        { fence: 7n, id: "one" },
        { fence: 7n, id: "other" },
      ];
      await record.get({ fence: one });
      await record.put("mine", { fence: one });
      await assertStale(record.get({ fence: other }), record.name, 7n, 7n);
      await assertStale(record.put("theirs", { fence: other }), record.name, 7n, 7n);
      await assertStale(record.delete({ fence: other }), record.name, 7n, 7n);
      await record.put("mine still", { fence: one });
      assert.equal((await record.get())?.value, "mine still");
    },
  },
  {
    name: "tokens compare exactly at any size [H17, H63]",
    covers: [],
    needs: ["redis"],
    async run(lab) {
      const record = lab.record(await lab.holdfast(), lab.name());
      const rising = [
        0n,
        9n,
        10n,
        99n,
        100n,
        2n ** 53n,
        2n ** 53n + 1n,
        BEYOND_DOUBLE,
        BEYOND_DOUBLE + 1n,
        10n ** 30n,
      ];
      for (const [at, fence] of rising.entries()) {
        await record.get({ fence: { fence, id: "holder" } });
        await record.put("v", { fence: { fence, id: "holder" } });
        assert.equal((await record.get())?.fence, fence);
        const lower = rising[at - 1];
        if (lower !== undefined) {
          const late = record.put("x", { fence: { fence: lower, id: "holder" } });
          await assertStale(late, record.name, lower, fence);
        }
      }
    },
  },
  {
    name: "a refused holder acquires above the token that the record has seen [H42]",
    covers: [],
    needs: ["redis"],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const name = lab.name();
      const record = lab.record(holdfast, name);
      const seen = (await lab.redis.nowMicros()) + 3_600_000_000n;
      await record.get({ fence: { fence: seen, id: "from before a loss of data" } });
      const lease = await take(holdfast, name);
      const error = await rejection(record.get({ fence: lease }));
      assert.ok(error instanceof StaleTokenError);
      await lease.release();
      const above = await holdfast.mutex(name).acquire({ floor: error.seen });
      assert.ok(above.fence > seen);
      assert.equal(await record.get({ fence: above }), null);
    },
  },
  {
    name: "a record refuses what is no holder and no value, and sends nothing",
    covers: [],
    needs: ["redis", "proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const record = lab.record(await lab.holdfast({ through: proxy }), lab.name());
      const holder = { fence: 1n, id: "x" };
      const wrong: unknown[] = [null, 5, {}, { fence: 1, id: "x" }, { fence: -1n, id: "x" }, { fence: 1n }];
      proxy.forget();
      for (const each of wrong) {
        const fence = each as never;
        assert.ok((await rejection(record.get({ fence }))) instanceof InvalidArgumentError);
        assert.ok((await rejection(record.put("x", { fence }))) instanceof InvalidArgumentError);
      }
      for (const value of [undefined, 5n, Number.NaN, new Map()]) {
        assert.ok((await rejection(record.put(value, { fence: holder }))) instanceof InvalidArgumentError);
      }
      assert.equal(proxy.requests.length, 0);
    },
  },
  {
    name: "after close a record says so",
    covers: [],
    needs: ["redis"],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const record = lab.record(holdfast, lab.name());
      await holdfast.close();
      assert.ok((await rejection(record.get())) instanceof ClosedError);
    },
  },
];
