/** The inbox: proof of life of its connection, and refusals, with a port that the test plays. */
import { ManualClock } from "@holdfast/conformance";
import { beforeEach, expect, test } from "vitest";
import { ServerError } from "../src/errors.js";
import { Inbox } from "../src/redis/inbox.js";
import type { Inbound, RedisPort } from "../src/redis/port.js";

interface Opened {
  readonly inbound: Inbound;
  pings: number;
  answers: boolean;
  closed: boolean;
}

let clock: ManualClock;
let opened: Opened[];
let inbox: Inbox;
let trouble: string | null;

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

beforeEach(() => {
  clock = new ManualClock();
  opened = [];
  trouble = null;
  const port: Pick<RedisPort, "subscribe" | "trouble"> = {
    get trouble() {
      return trouble;
    },
    subscribe(_channel, inbound) {
      const subscription = { inbound, pings: 0, answers: true, closed: false };
      opened.push(subscription);
      return {
        async answers() {
          subscription.pings += 1;
          return subscription.answers;
        },
        close() {
          subscription.closed = true;
        },
      };
    },
  };
  inbox = new Inbox(port as RedisPort, "channel", clock, 1_000);
  inbox.open();
  opened[0]?.inbound.up();
});

test("a connection that was heard of lately is trusted; a silent one is asked once", async () => {
  clock.advance(900);
  inbox.doubt(1_000);
  expect(opened[0]?.pings).toBe(0);
  clock.advance(200);
  inbox.doubt(1_000);
  inbox.doubt(1_000);
  await settled();
  expect(opened[0]?.pings).toBe(1);
  inbox.doubt(1_000); // its answer was proof
  await settled();
  expect([opened[0]?.pings, inbox.up]).toEqual([1, true]);
});

test("a connection that does not answer is replaced, and whoever waits looks again when the new one is up", async () => {
  const ups: number[] = [];
  inbox.onUp(() => ups.push(opened.length));
  (opened[0] as Opened).answers = false;
  inbox.doubt(0);
  await settled();
  expect([opened[0]?.closed, opened.length, inbox.up]).toEqual([true, 2, false]);
  opened[1]?.inbound.up();
  expect([inbox.up, ups]).toEqual([true, [2]]);
});

test("one that does not come up while the server answers others is replaced, when somebody waits", () => {
  opened[0]?.inbound.down(null);
  clock.advance(2_000);
  opened[0]?.inbound.down(null); // tried again, and failed
  inbox.open();
  expect(opened).toHaveLength(1);
  clock.advance(2_000);
  trouble = "not connected";
  inbox.open();
  expect(opened).toHaveLength(1);
  trouble = null;
  inbox.open();
  inbox.open();
  expect([opened.length, opened[0]?.closed]).toEqual([2, true]);
  clock.advance(4_000);
  inbox.open();
  expect(opened).toHaveLength(3);
  opened[2]?.inbound.up();
  clock.advance(60_000);
  inbox.open();
  expect([opened.length, inbox.up]).toEqual([3, true]);
});

test("a server that will not let this process listen is reported; the next open asks again", () => {
  const refusals: string[] = [];
  inbox.onRefused((error) => refusals.push(error.serverCode));
  opened[0]?.inbound.down(new ServerError("NOPERM no channel for you"));
  expect([refusals, opened[0]?.closed, inbox.up]).toEqual([["NOPERM"], true, false]);
  inbox.open();
  expect(opened).toHaveLength(2);
});

test("a message is a verb and words; a verb that nobody knows is ignored", () => {
  const heard: (readonly string[])[] = [];
  inbox.handle("grant", (words) => heard.push(words));
  opened[0]?.inbound.message("grant a 1 2");
  opened[0]?.inbound.message("nonsense");
  opened[0]?.inbound.message("");
  expect(heard).toEqual([["a", "1", "2"]]);
});
