/** The subscriber: proof of life of its connection, refusals and the counting of listeners, with a port that the test plays. */
import { ManualClock } from "@holdfast/conformance";
import { beforeEach, expect, test } from "vitest";
import { IndeterminateError, ServerError } from "../../src/errors.js";
import { Inbox } from "../../src/redis/inbox.js";
import { writeMessage } from "../../src/redis/message.js";
import type { MessageListener, RedisPort, Topic } from "../../src/redis/port.js";
import { Subscriber, type TopicListener } from "../../src/redis/subscriber.js";
import { Schedule } from "../../src/time/schedule.js";

interface Asked {
  readonly topic: string;
  confirm(): void;
  refuse(error: Error): void;
}

interface Opened {
  readonly listener: MessageListener;
  readonly asked: Asked[];
  readonly pings: (Topic | null)[];
  answers: boolean;
  closed: boolean;
}

let clock: ManualClock;
let opened: Opened[];
let subscriber: Subscriber;
let trouble: string | null;

function newInbox(): Inbox {
  const port = { zeroListenersMeansGone: false, command: async () => null };
  return new Inbox({
    subscriber,
    port,
    schedule: new Schedule(clock),
    callTimeoutMs: 1_000,
    channel: "inbox",
  });
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

beforeEach(() => {
  [clock, opened, trouble] = [new ManualClock(), [], null];
  const port: Pick<RedisPort, "openMessages" | "trouble"> = {
    get trouble() {
      return trouble;
    },
    openMessages(listener) {
      const connection: Opened = { listener, asked: [], pings: [], answers: true, closed: false };
      opened.push(connection);
      const ask =
        (sign: string) =>
        ({ name }: Topic) =>
          new Promise<void>((confirm, refuse) => {
            connection.asked.push({ topic: `${sign}${name}`, confirm, refuse });
          });
      return {
        subscribe: ask("+"),
        unsubscribe: ask("-"),
        async answers(topic) {
          connection.pings.push(topic);
          return connection.answers;
        },
        close() {
          connection.closed = true;
        },
      };
    },
  };
  subscriber = new Subscriber(port, clock, 1_000);
});

const latest = (): Opened => opened.at(-1) as Opened;
const asked = (): string[] => latest().asked.map(({ topic }) => topic);

async function confirmAll(): Promise<void> {
  for (const each of latest().asked) each.confirm();
  await settled();
}

/** A listener that writes down what it is told. */
function ears(): TopicListener & { readonly told: string[] } {
  const told: string[] = [];
  return {
    told,
    message: (text, channel) => told.push(`${channel} ${text}`),
    up: () => told.push("up"),
    down: (error) => told.push(`down ${error && (error as Error & { code?: string }).code}`),
  };
}

async function connected(): Promise<void> {
  latest().listener.connected();
  await confirmAll();
}

test("a topic is asked for once, for all of its listeners", async () => {
  const [one, two, three] = [ears(), ears(), ears()];
  const first = subscriber.subscribe("a", one);
  const second = subscriber.subscribe("a", two);
  expect(asked()).toEqual([]);
  await connected();
  expect([asked(), one.told, two.told]).toEqual([["+a"], ["up"], ["up"]]);
  subscriber.subscribe("a", three);
  expect(three.told).toEqual([]);
  await settled();
  expect([asked(), three.told, one.told]).toEqual([["+a"], ["up"], ["up"]]);
  first.close();
  first.close();
  second.close();
  latest().listener.message({ kind: "channel", name: "a" }, "text", "a");
  latest().listener.message({ kind: "pattern", name: "a" }, "text", "a"); // another topic
  expect([asked(), three.told, one.told]).toEqual([["+a"], ["up", "a text"], ["up"]]);
});

test("a listener that subscribes twice hears twice", async () => {
  const both = ears();
  subscriber.subscribe("a", both).close();
  subscriber.subscribe("a", both);
  subscriber.subscribe("a", both);
  await connected();
  expect(both.told).toEqual(["up", "up"]);
});

test("a topic that is wanted again while it is being left is asked for after that", async () => {
  const [other, first, again] = [ears(), ears(), ears()];
  subscriber.subscribe("other", other);
  const subscription = subscriber.psubscribe("a*", first);
  await connected();
  subscription.close();
  subscriber.psubscribe("a*", again);
  await settled();
  expect(asked()).toEqual(["+other", "+a*", "-a*"]);
  await confirmAll();
  expect(asked()).toEqual(["+other", "+a*", "-a*", "+a*"]);
  await confirmAll();
  expect(again.told).toEqual(["up"]);
});

test("a topic that comes and goes while it is being left is left once, and its next listener hears", async () => {
  subscriber.subscribe("other", ears());
  const first = subscriber.subscribe("a", ears());
  await connected();
  first.close();
  subscriber.subscribe("a", ears()).close();
  expect(asked()).toEqual(["+other", "+a", "-a"]);
  await confirmAll();
  const next = ears();
  subscriber.subscribe("a", next);
  await confirmAll();
  latest().listener.message({ kind: "channel", name: "a" }, "text", "a");
  expect([asked(), next.told]).toEqual([
    ["+other", "+a", "-a", "+a"],
    ["up", "a text"],
  ]);
});

test("what is left during a break is left once the connection is back, unless it is wanted again, or another one takes its place", async () => {
  const [other, again] = [ears(), ears()];
  subscriber.subscribe("other", other);
  const [a, b] = [subscriber.subscribe("a", ears()), subscriber.subscribe("b", ears())];
  await connected();
  latest().listener.disconnected(null);
  a.close();
  b.close();
  subscriber.subscribe("never", ears()).close();
  subscriber.subscribe("b", again);
  latest().asked.length = 0;
  await connected();
  expect([asked(), again.told]).toEqual([["+other", "-a", "+b"], ["up"]]);
  latest().listener.disconnected(null);
  subscriber.subscribe("b", again).close();
  subscriber.replace();
  await connected();
  expect(asked()).toEqual(["+other", "+b"]);
});

test("the last listener ends the connection; the next one opens another", async () => {
  const subscription = subscriber.subscribe("a", ears());
  await connected();
  subscription.close();
  expect([latest().closed, asked()]).toEqual([true, ["+a"]]);
  subscriber.subscribe("a", ears());
  expect(opened).toHaveLength(2);
});

test("after a break all is asked for again, and a confirmation from before it counts for nothing", async () => {
  const [a, b] = [ears(), ears()];
  subscriber.subscribe("a", a);
  const left = subscriber.subscribe("b", b);
  subscriber.subscribe("c", ears());
  latest().listener.connected();
  const [, , late] = latest().asked;
  await confirmAll();
  left.close();
  latest().listener.disconnected(null);
  expect(a.told).toEqual(["up", "down null"]);
  late?.confirm();
  latest().asked.length = 0;
  latest().listener.connected();
  await settled();
  // The client may have subscribed to what was left by itself.
  expect([asked(), a.told]).toEqual([
    ["+a", "-b", "+c"],
    ["up", "down null"],
  ]);
  await confirmAll();
  expect([a.told, b.told]).toEqual([["up", "down null", "up"], ["up"]]);
});

test("a refusal concerns its topic, and is repeated when somebody asks for it", async () => {
  const [fine, refused] = [ears(), ears()];
  subscriber.subscribe("fine", fine);
  subscriber.subscribe("secret", refused);
  latest().listener.connected();
  latest().asked[0]?.confirm();
  latest().asked[1]?.refuse(new ServerError("NOPERM no channel for you"));
  await settled();
  expect([fine.told, refused.told, latest().closed]).toEqual([["up"], ["down SERVER_ERROR"], false]);
  subscriber.revive();
  subscriber.revive();
  expect(asked()).toEqual(["+fine", "+secret", "+secret"]);
  await confirmAll();
  expect([fine.told, refused.told]).toEqual([["up"], ["down SERVER_ERROR", "up"]]);
});

test("a connection on which all is refused is closed; so is one that fails otherwise", async () => {
  const only = ears();
  subscriber.subscribe("secret", only);
  latest().listener.connected();
  latest().asked[0]?.refuse(new ServerError("NOPERM no channel for you"));
  await settled();
  expect([latest().closed, opened.length]).toEqual([true, 1]);
  subscriber.revive();
  latest().listener.connected();
  latest().asked[0]?.refuse(new IndeterminateError("SUBSCRIBE failed"));
  await settled();
  expect([latest().closed, opened.length]).toEqual([true, 2]);
  subscriber.revive();
  latest().listener.disconnected(new ServerError("NOAUTH Authentication required"));
  expect([latest().closed, opened.length]).toEqual([true, 3]);
  expect(only.told).toEqual(["down SERVER_ERROR", "down INDETERMINATE", "down SERVER_ERROR"]);
  subscriber.revive();
  await connected();
  expect([opened.length, only.told.at(-1)]).toEqual([4, "up"]);
});

test("a listener may revive as soon as it hears that the connection is over, or leave as the last", async () => {
  const listener = ears();
  let down = (): void => subscriber.revive();
  const only = subscriber.subscribe("a", { ...listener, down: () => down() });
  latest().listener.disconnected(new IndeterminateError("no connection"));
  expect([opened.length, opened[1]?.closed]).toEqual([2, false]);
  await connected();
  expect(listener.told).toEqual(["up"]);
  down = () => only.close();
  subscriber.replace();
  expect([opened.length, latest().closed]).toEqual([2, true]);
});

test("after close nothing is opened and nobody is told", async () => {
  const listener = ears();
  subscriber.subscribe("a", listener);
  latest().listener.connected();
  subscriber.close();
  await confirmAll();
  subscriber.subscribe("b", listener);
  subscriber.revive();
  expect([opened.length, opened[0]?.closed, listener.told]).toEqual([1, true, []]);
});

test("a connection that showed a sign of life lately is trusted; a silent one is asked once", async () => {
  subscriber.subscribe("a", ears());
  subscriber.doubt(0); // nothing to doubt yet
  await connected();
  clock.advance(900);
  subscriber.doubt(1_000);
  expect(latest().pings).toEqual([]);
  clock.advance(200);
  subscriber.doubt(1_000);
  subscriber.doubt(1_000);
  await settled();
  expect(latest().pings).toEqual([{ kind: "channel", name: "a" }]);
  subscriber.doubt(1_000); // its answer was proof
  await settled();
  expect([latest().pings.length, opened.length]).toEqual([1, 1]);
});

test.each([
  ["does not answer", () => subscriber.doubt(0)],
  ["may have lost messages for good", () => latest().listener.outdated()],
])("a connection that %s is replaced, and each listener hears of it", async (_, find) => {
  const [a, b] = [ears(), ears()];
  subscriber.subscribe("a", a);
  subscriber.psubscribe("b*", b);
  await connected();
  latest().answers = false;
  find();
  await settled();
  expect([opened[0]?.closed, opened.length, a.told, b.told]).toEqual([
    true,
    2,
    ["up", "down null"],
    ["up", "down null"],
  ]);
  await connected();
  expect([asked(), a.told.at(-1), b.told.at(-1)]).toEqual([["+a", "+b*"], "up", "up"]);
});

test("one that does not come up while the server answers others is replaced, when somebody waits", async () => {
  subscriber.subscribe("a", ears());
  await connected();
  latest().listener.disconnected(null);
  clock.advance(2_000);
  latest().listener.disconnected(null); // tried again, and failed
  subscriber.revive();
  expect(opened).toHaveLength(1);
  clock.advance(2_000);
  trouble = "not connected";
  subscriber.revive();
  expect(opened).toHaveLength(1);
  trouble = null;
  subscriber.revive();
  subscriber.revive();
  expect([opened.length, opened[0]?.closed]).toEqual([2, true]);
  clock.advance(4_000);
  subscriber.revive();
  expect(opened).toHaveLength(3);
  await connected();
  clock.advance(60_000);
  subscriber.revive();
  expect(opened).toHaveLength(3);
});

test("a connection that never confirms one of its topics is replaced, and those who were up hear of it", async () => {
  const up = ears();
  subscriber.subscribe("up", up);
  await connected();
  // Whoever hears of it may ask again at once.
  subscriber.subscribe("never", { ...ears(), down: () => subscriber.revive() });
  clock.advance(4_000);
  subscriber.revive();
  expect([opened.length, up.told]).toEqual([2, ["up", "down null"]]);
  await connected();
  expect([asked(), up.told.at(-1)]).toEqual([["+up", "+never"], "up"]);
});

test("a connection that confirms one topic after the other, however slowly, is not stuck", async () => {
  for (const name of ["a", "b", "c"]) subscriber.subscribe(name, ears());
  latest().listener.connected();
  for (const one of latest().asked) {
    clock.advance(2_500);
    subscriber.revive();
    one.confirm();
    await settled();
  }
  expect(opened).toHaveLength(1);
});

test("an inbox reports a server that will not let this process listen; the next open asks again", async () => {
  const inbox = newInbox();
  const [refusals, ups]: [string[], number[]] = [[], []];
  inbox.onRefused((error) => refusals.push(error.serverCode));
  inbox.serve({ waits: () => true, turned: () => void ups.push(opened.length) });
  inbox.open();
  latest().listener.connected();
  latest().asked[0]?.refuse(new ServerError("NOPERM no channel for you"));
  await settled();
  expect([refusals, latest().closed, inbox.up]).toEqual([["NOPERM"], true, false]);
  inbox.open();
  await connected();
  expect([opened.length, inbox.up, ups]).toEqual([2, true, [2]]);
  inbox.close();
  inbox.open();
  expect([opened.length, latest().closed, inbox.up]).toEqual([2, true, false]);
});

test("an inbox reads a message as a verb and words; a verb that nobody knows, and what is not whole, is ignored", async () => {
  const inbox = newInbox();
  const heard: (readonly string[])[] = [];
  inbox.handle("grant", (words) => heard.push(words));
  inbox.open();
  await connected();
  const topic: Topic = { kind: "channel", name: "inbox" };
  const whole = ["grant a 1 2", "nonsense", ""].map((text) => writeMessage("", text));
  for (const message of [...whole, "grant b 1 2", " 12 grant c 1 2"])
    latest().listener.message(topic, message, "inbox");
  expect(heard).toEqual([["a", "1", "2"]]);
});

test("thirty thousand topics of one turn cost time in proportion to their number", async () => {
  // Where each of them visits all others, this takes minutes.
  const topics = Array.from({ length: 30_000 }, (_, at) => subscriber.subscribe(`c${at}`, ears()));
  latest().listener.connected();
  await confirmAll();
  for (const topic of topics) topic.close();
  expect(latest().closed).toBe(true);
});
