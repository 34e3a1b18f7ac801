/**
 * RedisContext: the objects that all nouns over one Redis share. A Holdfast makes it once. A noun takes it whole, or names the
 * fields that it uses with `Pick`, so that a test need make no more.
 */
import { hostname } from "node:os";
import type { Random } from "../time/random.js";
import type { Schedule } from "../time/schedule.js";
import { BreakerPort } from "./breaker.js";
import { Inbox } from "./inbox.js";
import { inboxChannel } from "./keys.js";
import { Place } from "./place.js";
import type { RedisPort } from "./port.js";
import { Subscriber } from "./subscriber.js";
import { Watcher } from "./watcher.js";

/** A replica of the same server, to which this process only listens. */
export interface Replica {
  readonly port: RedisPort;
  readonly subscriber: Subscriber;
  readonly watcher: Watcher;
}

export interface RedisContextSettings {
  readonly prefix: string;
  /** The `label` option of the process. */
  readonly label: string;
  readonly callTimeoutMs: number;
  /** The `listenAfter` option of the process. */
  readonly listenAfterMs: number;
  readonly schedule: Schedule;
  readonly random: Random;
  /** A port over a replica of the server. */
  readonly replica?: RedisPort | null | undefined;
}

export class RedisContext {
  readonly port: RedisPort;
  /** The same server, for nouns that can do without it for a while: refuses calls while Redis is away. */
  readonly breakerPort: BreakerPort;
  readonly subscriber: Subscriber;
  /** The same subscriptions for those who wait: with the timers that it lacks. */
  readonly watcher: Watcher;
  /** For signals, which are heard here as well. Null: there is none. */
  readonly replica: Replica | null;
  /** What the messages about keys name. */
  readonly place: Place;
  /** The channel of this process. */
  readonly inbox: Inbox;
  readonly schedule: Schedule;
  readonly random: Random;
  /** The prefix of every key and channel. */
  readonly prefix: string;
  /** The time-out of a call that has none of its own. */
  readonly callTimeoutMs: number;
  /** How long a process holds something before it opens its inbox. */
  readonly listenAfterMs: number;
  /** Host, pid and label, by which people recognise this process. */
  readonly self: { readonly host: string; readonly pid: number; readonly label: string };
  /** `self` and the id of the inbox as JSON, as Redis keeps it. */
  readonly owner: string;

  constructor(port: RedisPort, settings: RedisContextSettings) {
    const { prefix, label, callTimeoutMs, listenAfterMs, schedule, random, replica = null } = settings;
    const processId = random.id();
    this.port = port;
    this.breakerPort = new BreakerPort(port, schedule, callTimeoutMs);
    this.subscriber = new Subscriber(port, schedule.clock, callTimeoutMs);
    this.place = new Place({ port, prefix, schedule, random, callTimeoutMs });
    const channel = inboxChannel(prefix, processId);
    this.inbox = new Inbox({ subscriber: this.subscriber, port, schedule, callTimeoutMs, channel });
    this.watcher = new Watcher(this.subscriber, schedule, random, this.inbox);
    this.replica = replica && listenTo(replica, schedule, random, callTimeoutMs);
    // What is heard by the replica while the server is away is of a place that must be known by then.
    if (replica) this.place.connected();
    this.schedule = schedule;
    this.random = random;
    this.prefix = prefix;
    this.callTimeoutMs = callTimeoutMs;
    this.listenAfterMs = listenAfterMs;
    this.self = { host: hostname(), pid: process.pid, label };
    this.owner = JSON.stringify({ ...this.self, inbox: processId });
  }

  /** Closes the watches, the inbox and the ports. */
  async close(): Promise<void> {
    this.watcher.close();
    this.inbox.close();
    this.subscriber.close();
    this.replica?.watcher.close();
    this.replica?.subscriber.close();
    await Promise.all([this.port.close(), this.replica?.port.close()]);
  }
}

function listenTo(port: RedisPort, schedule: Schedule, random: Random, timeoutMs: number): Replica {
  const subscriber = new Subscriber(port, schedule.clock, timeoutMs);
  return { port, subscriber, watcher: new Watcher(subscriber, schedule, random) };
}
