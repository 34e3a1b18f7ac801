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
import type { RedisPort } from "./port.js";
import { Subscriber } from "./subscriber.js";

export interface RedisContextSettings {
  readonly prefix: string;
  /** The `label` option of the process. */
  readonly label: string;
  readonly callTimeoutMs: number;
  readonly schedule: Schedule;
  readonly random: Random;
}

export class RedisContext {
  readonly port: RedisPort;
  /** The same server, for nouns that can do without it for a while: refuses calls while Redis is away. */
  readonly breakerPort: BreakerPort;
  readonly subscriber: Subscriber;
  /** The channel of this process. */
  readonly inbox: Inbox;
  readonly schedule: Schedule;
  readonly random: Random;
  /** The prefix of every key and channel. */
  readonly prefix: string;
  /** The time-out of a call that has none of its own. */
  readonly callTimeoutMs: number;
  /** Host, pid and label, by which people recognise this process. */
  readonly self: { readonly host: string; readonly pid: number; readonly label: string };
  /** `self` and the id of the inbox as JSON, as Redis keeps it. */
  readonly owner: string;

  constructor(port: RedisPort, settings: RedisContextSettings) {
    const { prefix, label, callTimeoutMs, schedule, random } = settings;
    const processId = random.id();
    this.port = port;
    this.breakerPort = new BreakerPort(port, schedule, callTimeoutMs);
    this.subscriber = new Subscriber(port, schedule.clock, callTimeoutMs);
    this.inbox = new Inbox(this.subscriber, inboxChannel(prefix, processId));
    this.schedule = schedule;
    this.random = random;
    this.prefix = prefix;
    this.callTimeoutMs = callTimeoutMs;
    this.self = { host: hostname(), pid: process.pid, label };
    this.owner = JSON.stringify({ ...this.self, inbox: processId });
  }

  /** Closes the inbox and the port. */
  async close(): Promise<void> {
    this.inbox.close();
    this.subscriber.close();
    await this.port.close();
  }
}
