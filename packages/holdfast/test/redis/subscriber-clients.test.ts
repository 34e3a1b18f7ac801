/** The subscriber over each client library: channels and patterns on one connection, breaks, refusals. */
import { FaultProxy, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { detectClient } from "../../src/redis/clients/detect.js";
import { Connection } from "../../src/redis/connection.js";
import { Subscriber, type TopicListener } from "../../src/redis/subscriber.js";
import { systemClock } from "../../src/time/clock.js";
import { Schedule } from "../../src/time/schedule.js";
import { LIBRARIES, type OpenedClient } from "./client-libraries.js";

const USER = "listener";
const PASSWORD = "secret";

let server: EmbeddedValkey;
let publisher: Redis;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  publisher = new Redis(server.url);
  await publisher.call("ACL", "SETUSER", USER, "on", `>${PASSWORD}`, "~*", "+@all", "resetchannels");
  await publisher.call("ACL", "SETUSER", USER, "&news:*", "&news:[ab]*");
});
afterAll(async () => {
  publisher.disconnect();
  await server.stop();
});

/** A listener that writes down what it hears. */
function ears(): TopicListener & { readonly heard: string[]; ups: number; error: Error | null } {
  return {
    heard: [],
    ups: 0,
    error: null,
    message(text, channel) {
      this.heard.push(`${channel} ${text}`);
    },
    up() {
      this.ups += 1;
    },
    down(error) {
      this.error = error;
    },
  };
}

describe.each(LIBRARIES)("%s", (_, make) => {
  let proxy: FaultProxy;
  let opened: OpenedClient;
  let connection: Connection;
  let subscriber: Subscriber;

  beforeEach(async () => {
    proxy = await FaultProxy.start({ host: "127.0.0.1", port: server.port });
    opened = await make(proxy.url.replace("//", `//${USER}:${PASSWORD}@`));
    connection = new Connection(detectClient(opened.client), false, new Schedule(systemClock));
    subscriber = new Subscriber(connection, systemClock, 1_000);
  });
  afterEach(async () => {
    subscriber.close();
    await connection.close();
    opened.close();
    await proxy.close();
  });

  test("hears channels and patterns on one connection, which ends with the last of them", async () => {
    const before = proxy.connections;
    const [a, b, pattern] = [ears(), ears(), ears()];
    const subscriptions = [
      subscriber.subscribe("news:a", a),
      subscriber.subscribe("news:b", b),
      subscriber.psubscribe("news:[ab]*", pattern),
    ];
    await until("all are up", () => [a, b, pattern].every(({ ups }) => ups > 0));
    expect(proxy.connections).toBe(before + 1);
    await publisher.publish("news:a", "one");
    await publisher.publish("news:b", "two");
    await until("the pattern has heard both", () => pattern.heard.length === 2);
    expect([a.heard, b.heard, pattern.heard]).toEqual([
      ["news:a one"],
      ["news:b two"],
      ["news:a one", "news:b two"],
    ]);

    subscriptions[0]?.close();
    const again = ears();
    subscriptions[0] = subscriber.subscribe("news:a", again);
    await until("it is up again", () => again.ups > 0);
    subscriptions[2]?.close();
    await until(
      "nobody listens to the pattern",
      async () => (await publisher.call("PUBSUB", "NUMPAT")) === 0,
    );
    await publisher.publish("news:a", "three");
    await until("it is heard", () => again.heard.length > 0);
    expect([again.heard, a.heard, pattern.heard.length]).toEqual([["news:a three"], ["news:a one"], 2]);

    for (const subscription of subscriptions) subscription.close();
    await until("its connection is closed", () => proxy.connections === before);
  });

  test("after a break every topic is up again", async () => {
    const [channel, pattern] = [ears(), ears()];
    subscriber.subscribe("news:a", channel);
    subscriber.psubscribe("news:[ab]*", pattern);
    await until("both are up", () => channel.ups > 0 && pattern.ups > 0);
    const [channelUps, patternUps] = [channel.ups, pattern.ups];
    proxy.cut();
    await until("both are up again", () => {
      return channel.ups > channelUps && pattern.ups > patternUps;
    });
    await until("both hear", async () => {
      await publisher.publish("news:a", "still");
      return channel.heard.length > 0 && pattern.heard.length > 0;
    });
  });

  test("a topic that the server refuses costs the others nothing", async () => {
    const [allowed, refused] = [ears(), ears()];
    subscriber.subscribe("news:a", allowed);
    const subscription = subscriber.subscribe("secrets", refused);
    await until("one is refused", () => refused.error);
    expect(refused.error).toMatchObject({ code: "SERVER_ERROR", serverCode: "NOPERM" });
    // GLIDE tells no refusal: on a busy machine a late confirmation is taken for one, until a listener asks again.
    await until("the other is up", () => {
      subscriber.revive();
      return allowed.ups > 0;
    });
    subscription.close();
    await publisher.publish("news:a", "one");
    await until("the other hears", () => allowed.heard.length > 0);
    const { ups } = allowed;
    proxy.cut("inbox");
    await until("the other is up again", () => {
      subscriber.revive();
      return allowed.ups > ups;
    });
    expect([refused.ups, refused.heard]).toEqual([0, []]);
  });
});
