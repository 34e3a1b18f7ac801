/**
 * A plan: a seed draws listeners that come and go over one client, and breaks and lost confirmations in between. The plan checks:
 *
 * - Each listener that is up hears every message that is published, or its subscription reports "up" again.
 * - At the end every listener hears, and no listener hears that has left.
 * - At the end the server has subscribers for the topics of the listeners, and for no other topic.
 */
import { FaultProxy, until } from "@holdfast/conformance";
import { Dice } from "@holdfast/lab";
import type { Redis } from "ioredis";
import { detectClient } from "../../src/redis/clients/detect.js";
import { Connection } from "../../src/redis/connection.js";
import { Subscriber, type Subscription } from "../../src/redis/subscriber.js";
import { systemClock } from "../../src/time/clock.js";
import { Schedule } from "../../src/time/schedule.js";
import type { ClientMaker } from "./client-libraries.js";

interface Ear {
  readonly kind: "channel" | "pattern";
  readonly name: string;
  readonly heard: string[];
  readonly subscription: Subscription;
  isUp: boolean;
  /** How often it was told so. */
  ups: number;
}

/** What was published while the ear was up. */
interface Due {
  readonly text: string;
  readonly ear: Ear;
  readonly ups: number;
}

const CHANNELS = ["a", "b", "c", "d"];
const PATTERNS = ["x*", "y*"];
const STEPS = 40;
const CALL_MS = 500;
/** In answers of the server. */
const LONGEST_PAUSE = 200;
const SHORT_PAUSE = 20;
/** As long as a client may take to connect again, and GLIDE to confirm behind a try that was lost. */
const SETTLE_MS = 15_000;

/** @param publisher a client of the same server, which is nobody else's */
export async function runPlan(
  make: ClientMaker,
  server: { readonly port: number },
  publisher: Redis,
  seed: number,
): Promise<void> {
  const dice = new Dice(seed);
  const proxy = await FaultProxy.start({ host: "127.0.0.1", port: server.port });
  const opened = await make(proxy.url.replace("//", "//default:none@"));
  const connection = new Connection(detectClient(opened.client), false, new Schedule(systemClock));
  const subscriber = new Subscriber(connection, systemClock, CALL_MS);
  const ears = new Set<Ear>();
  const gone: Ear[] = [];
  const due: Due[] = [];
  const listen = (kind: Ear["kind"], name: string): void => {
    const heard: string[] = [];
    const listener = {
      message: (text: string) => void heard.push(text),
      up: () => {
        ear.isUp = true;
        ear.ups += 1;
      },
      down: () => {
        ear.isUp = false;
      },
    };
    const subscription =
      kind === "channel" ? subscriber.subscribe(name, listener) : subscriber.psubscribe(name, listener);
    const ear: Ear = { kind, name, heard, subscription, isUp: false, ups: 0 };
    ears.add(ear);
  };
  const leave = (): void => {
    if (ears.size === 0) return;
    const ear = dice.pick([...ears]);
    ears.delete(ear);
    gone.push(ear);
    ear.subscription.close();
  };
  const emit = (): void => {
    if (ears.size === 0) return;
    const { kind, name } = dice.pick([...ears]);
    const text = `${due.length}`;
    for (const ear of ears)
      if (ear.kind === kind && ear.name === name && ear.isUp) due.push({ text, ear, ups: ear.ups });
    void publisher.publish(channelOf(name), text);
  };
  let isTorn = false;
  const heal = (): void => {
    // No connection goes on behind bytes that were lost.
    if (isTorn) proxy.cut("inbox");
    isTorn = false;
    proxy.heal();
  };
  const deeds: readonly (() => void)[] = [
    () => listen("channel", dice.pick(CHANNELS)),
    () => listen("channel", dice.pick(CHANNELS)),
    () => listen("pattern", dice.pick(PATTERNS)),
    leave,
    leave,
    emit,
    emit,
    () => proxy.cut("inbox"),
    () => proxy.set({ down: "hold" }, "inbox"),
    () => {
      isTorn = true;
      proxy.set({ down: "drop" }, "inbox");
    },
    heal,
    () => subscriber.revive(),
  ];
  try {
    for (let step = 0; step < STEPS; step++) {
      dice.pick(deeds)();
      if (dice.chance(0.5)) await turns(publisher, dice.whole(0, LONGEST_PAUSE));
    }
    heal();
    await until("every listener is up", () => isEachUp(subscriber, ears), SETTLE_MS);
    for (const { heard } of gone) heard.length = 0;
    await until("every listener hears", () => isEachHearing(publisher, subscriber, ears), SETTLE_MS);
    for (const { text, ear, ups } of due)
      if (ears.has(ear) && ear.ups === ups && !ear.heard.includes(text))
        throw new Error(`a listener of '${ear.name}' that was up did not hear ${text}`);
    for (const { heard, name } of gone)
      if (heard.length > 0) throw new Error(`a listener that left '${name}' heard ${heard}`);
    await until("nobody listens for nobody", () => isNobodyCounted(publisher, ears), SETTLE_MS);
  } finally {
    subscriber.close();
    await connection.close();
    opened.close();
    await proxy.close();
  }
}

/** Lets time pass for a client, as long as so many answers take. */
async function turns(publisher: Redis, count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await publisher.ping();
}

/** One that the pattern matches. */
function channelOf(name: string): string {
  return name.replace("*", "1");
}

/** As those who wait do from time to time. */
function isEachUp(subscriber: Subscriber, ears: ReadonlySet<Ear>): boolean {
  subscriber.revive();
  return [...ears].every(({ isUp }) => isUp);
}

async function isEachHearing(
  publisher: Redis,
  subscriber: Subscriber,
  ears: ReadonlySet<Ear>,
): Promise<boolean> {
  for (const { name, isUp } of ears) if (isUp) await publisher.publish(channelOf(name), "marker");
  await turns(publisher, SHORT_PAUSE);
  return isEachUp(subscriber, ears) && [...ears].every(({ heard }) => heard.includes("marker"));
}

async function isNobodyCounted(publisher: Redis, ears: ReadonlySet<Ear>): Promise<boolean> {
  const wanted = (kind: Ear["kind"]): string[] =>
    [...new Set([...ears].filter((ear) => ear.kind === kind).map(({ name }) => name))].sort();
  const channels = (await publisher.call("PUBSUB", "CHANNELS")) as string[];
  const patterns = Number(await publisher.call("PUBSUB", "NUMPAT"));
  return String(channels.sort()) === String(wanted("channel")) && patterns === wanted("pattern").length;
}
