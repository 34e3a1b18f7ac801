/** Checks whether messages reach this process. A waiting caller learns by a message that it has the lock. */
import { ServerError } from "../errors.js";
import type { RedisPort } from "../redis/port.js";
import { Subscriber } from "../redis/subscriber.js";
import type { Clock } from "../time/clock.js";
import { permissionFinding } from "./permissions.js";
import type { Finding } from "./report.js";
import { outcomeOf } from "./server-state.js";

type Hearing = "heard" | "deaf" | "elsewhere" | Error;

export async function checkWakeUps(
  port: RedisPort,
  clock: Clock,
  channels: readonly string[],
  timeoutMs: number,
): Promise<Finding[]> {
  // The check opens a connection: one that is open already does not show that another can be opened.
  const subscriber = new Subscriber(port, clock, timeoutMs);
  const hearings = await Promise.all(
    channels.map((channel) => listen(port, clock, { subscriber, channel, timeoutMs })),
  );
  // Some clients fail at the next message when they are closed inside one of their callbacks.
  subscriber.close();
  const refused = channels.filter((_, place) => isDenied(hearings[place]));
  if (refused.length > 0) return [permissionFinding(`SUBSCRIBE to ${refused.join(", ")}`)];
  const hearing = hearings.find((each) => each !== "heard");
  if (hearing === undefined) return [];
  return [
    {
      code: "wake-ups",
      severity: "warning",
      found: foundOf(hearing, timeoutMs),
      consequence:
        "Waiting callers have no place in line: they poll several times a second, and the first one that polls a free lock gets it. Signals are not heard, and waits for events and records poll.",
      remedy:
        "Let the client open a second connection (maxclients, proxies, firewalls) to the server that its commands go to, and let it SUBSCRIBE.",
    },
  ];
}

function foundOf(hearing: Exclude<Hearing, "heard">, timeoutMs: number): string {
  if (hearing === "deaf") return `a message to this process did not arrive within ${timeoutMs} ms`;
  if (hearing === "elsewhere")
    return "the second connection, for messages, leads to another server than that for commands";
  return `the second connection, for messages, cannot be used: ${hearing.message}`;
}

/** Subscribes, sends itself a message, and waits for it. */
async function listen(
  port: RedisPort,
  clock: Clock,
  {
    subscriber,
    channel,
    timeoutMs,
  }: { readonly subscriber: Subscriber; readonly channel: string; readonly timeoutMs: number },
): Promise<Hearing> {
  const { promise, settle } = openEnded<Hearing>();
  const cancel = clock.setTimer(() => settle("deaf"), timeoutMs);
  // A replica passes on what was published at its primary, so that it must be counted there too.
  let signs = 0;
  const sign = (): void => {
    signs += 1;
    if (signs === 2) settle("heard");
  };
  subscriber.subscribe(channel, {
    message: sign,
    up: () => {
      void outcomeOf(port.command(["PUBLISH", channel, "doctor"], timeoutMs)).then(({ reply, error }) => {
        // The check of permissions reports a user who may not publish.
        if (error instanceof ServerError) settle("heard");
        else if (reply === 0 && port.zeroListenersMeansGone) settle("elsewhere");
        else if (!error) sign();
      });
    },
    down: (error) => {
      if (error) settle(error);
    },
  });
  const hearing = await promise;
  cancel();
  return hearing;
}

function isDenied(hearing: Hearing | undefined): boolean {
  return hearing instanceof ServerError && hearing.serverCode === "NOPERM";
}

function openEnded<Value>(): { promise: Promise<Value>; settle: (value: Value) => void } {
  let settle: (value: Value) => void = () => {};
  const promise = new Promise<Value>((resolve) => {
    settle = resolve;
  });
  return { promise, settle };
}
