/** emitOne on a real engine: exactly one waiter, whatever is lost on the way. */
import { ManualClock } from "@holdfast/conformance";
import type { SignalListener } from "holdfast";
import { describe, expect, test } from "vitest";
import { writeMessage } from "../../src/redis/message.js";
import { name, onEngine, open, pause, redis, started, told, until } from "./signal-lab.js";

onEngine();

describe("emitOne", () => {
  test("exactly one waiter of all processes gets it", async () => {
    const [one, two] = [open(), open()];
    const waits = [];
    for (const hf of [one, two, two]) waits.push((await started([name], () => hf.signal(name).wait())).wait);
    const emitter = open().signal(name);
    const told: boolean[] = [];
    for (let n = 0; n < 4; n += 1) told.push(await emitter.emitOne(n));
    expect(told).toEqual([true, true, true, false]);
    const heard = (await Promise.all(waits)).map((each) => each?.data as number);
    expect(heard.toSorted()).toEqual([0, 1, 2]);
  });

  test("requests that are sent together reach as many waiters as there are", async () => {
    const hf = open();
    const first = await started([name], () => hf.signal(name).wait());
    const others = Array.from({ length: 9 }, () => hf.signal(name).wait());
    await hf
      .signal(name)
      .listen()
      .then((listener) => listener.return());
    const told = await Promise.all(Array.from({ length: 15 }, (_, n) => open().signal(name).emitOne(n)));
    expect(told.filter(Boolean)).toHaveLength(10);
    const heard = await Promise.all([first.wait, ...others]);
    expect(new Set(heard.map((each) => each?.data)).size).toBe(10);
  });

  test("every waiter has the same chance, in whatever process it is", async () => {
    const [one, many] = [open(), open()];
    const alone = await one.signal(name).listen();
    const others: SignalListener[] = [];
    for (let n = 0; n < 3; n += 1) others.push(await many.signal(name).listen());
    const emitter = open().signal(name);
    for (let n = 0; n < 200; n += 1) await emitter.emitOne(n);
    let [heard, all] = [0, 0];
    await until(async () => {
      while (alone.take()) heard += 1;
      for (const each of others) while (each.take()) all += 1;
      return heard + all === 200;
    });
    // 50 are expected of 200: 20 or 90 come once in millions.
    expect(heard).toBeGreaterThan(20);
    expect(heard).toBeLessThan(90);
  });

  test("a process that is gone is not chosen", async () => {
    const doomed = open();
    await doomed.signal(name).listen();
    const list = String(await redis.call("CLIENT", "LIST", "TYPE", "pubsub"));
    const [client = ""] = list.split("\n").filter((line) => line.includes("sub=2"));
    await redis.call("CLIENT", "KILL", "ID", /id=(\d+)/.exec(client)?.[1] ?? "");
    expect(await open().signal(name).emitOne()).toBe(false);
  });

  test("what was handed over while the message was lost comes with the next reply", async () => {
    const clock = new ManualClock();
    const hf = open({ clock });
    const { wait } = await started([name], () => hf.signal(name).wait({ wait: 100 }));
    await handBehindTheBack(name, "lost-message", 'j"in the mail"');
    clock.advance(100);
    expect(await wait).toEqual({ name, data: "in the mail" });
    await until(async () => (await handed(name)).length === 0);
  });

  test("a wait that is aborted ends at once, and passes on what was handed to it just then", async () => {
    const hf = open();
    const controller = new AbortController();
    const { wait } = await started([name], () => hf.signal(name).wait({ signal: controller.signal }));
    await handBehindTheBack(name, "lost-message", "j1");
    const next = open().signal(name).wait();
    await until(async () => (await redis.hlen(`holdfast:{${name}}:signal`)) === 2);
    controller.abort();
    await expect(wait).rejects.toThrow("aborted");
    expect(await next).toEqual({ name, data: 1 });
  });

  test("close() gives what was handed over just then", async () => {
    const hf = open();
    const { wait } = await started([name], () => hf.signal(name).wait());
    await handBehindTheBack(name, "lost-message", "j1");
    await hf.close();
    expect(await wait).toEqual({ name, data: 1 });
    expect(await handed(name)).toEqual([]);
  });

  test("a copy of a handed signal is no second signal", async () => {
    const hf = open();
    const listener = await hf.signal(name).listen();
    const [inbox] = await redis.hkeys(`holdfast:{${name}}:signal`);
    await redis.hset(`holdfast:{${name}}:mail`, "twice", "0 emitter j1");
    for (let n = 0; n < 3; n += 1)
      await redis.publish(inbox ?? "", writeMessage("", `signal ${name} 0 twice j1`));
    expect((await listener.next()).value?.data).toBe(1);
    await hf.signal(name).emit("end");
    expect((await listener.next()).value?.data).toBe("end");
  });

  test("a signal for a process that has no waiter any more goes to another, and its emitter learns the outcome", async () => {
    const [idle, other] = [open(), open()];
    const begins = await idle.signal(name).listen();
    const [inbox = ""] = await redis.hkeys(`holdfast:{${name}}:signal`);
    await begins.return();
    const listener = await other.signal(name).listen();
    const passedOn = told<{ signal: string }>("holdfast:signal:passed-on", ({ signal }) => signal === name);
    await redis.hset(`holdfast:{${name}}:mail`, "astray", "0 emitter j1");
    await redis.publish(inbox, writeMessage("", `signal ${name} 0 astray j1`));
    expect((await listener.next()).value?.data).toBe(1);
    await passedOn;
    await until(async () => (await redis.get(`holdfast:{${name}}:emitted:astray`)) === "2");
    await listener.return();
    await until(async () => (await open().signal(name).emit()) === 0);
    await redis.hset(`holdfast:{${name}}:mail`, "lost", "3 emitter j1");
    await redis.publish(inbox, writeMessage("", `signal ${name} 3 lost j1`));
    await until(async () => (await redis.get(`holdfast:{${name}}:emitted:lost`)) === "0");
    expect(await handed(name)).toEqual([]);
  });

  test("a signal that could not be passed on is passed on later, and keeps no waiter from the next", async () => {
    const hf = open();
    const controller = new AbortController();
    const { wait } = await started([name], () => hf.signal(name).wait({ signal: controller.signal }));
    await handBehindTheBack(name, "stuck", "j1");
    await redis.hset(`holdfast:{${name}}:emitted:stuck`, "of", "another program");
    const dropped = told<{ signal: string }>("holdfast:signal:dropped", ({ signal }) => signal === name);
    controller.abort();
    await expect(wait).rejects.toThrow("aborted");
    await dropped;
    await redis.del(`holdfast:{${name}}:emitted:stuck`);
    const { wait: next } = await started([name], () => hf.signal(name).wait());
    await until(async () => (await handed(name)).length === 0);
    expect(await redis.get(`holdfast:{${name}}:emitted:stuck`)).toBe("0");
    expect(await open().signal(name).emitOne(2)).toBe(true);
    expect(await next).toEqual({ name, data: 2 });
  });

  test("a waiter that emit has just woken is no waiter any more", async () => {
    const [hf, emitter] = [open(), open({ callTimeout: "10s" }).signal(name)];
    await emitter.emit(); // from now on it knows where it is, and its calls keep their order
    for (let n = 0; n < 20; n += 1) {
      const { wait } = await started([name], () => hf.signal(name).wait());
      const [, isTaken] = await Promise.all([emitter.emit("all"), emitter.emitOne("one")]);
      expect([(await wait)?.data, isTaken]).toEqual(["all", false]);
    }
  });

  test("a wait for any of two names that one has ended does not wait for the other any more", async () => {
    const [hf, emitter] = [open(), open({ callTimeout: "10s" })];
    const names = [`${name}-a`, `${name}-b`] as const;
    for (let n = 0; n < 20; n += 1) {
      const { wait } = await started([...names], () => hf.signals.any(names));
      const both = await Promise.all(names.map((each) => emitter.signal(each).emitOne(each)));
      expect(both.filter(Boolean)).toHaveLength(1);
      expect((await wait)?.data).toBe(names[both.indexOf(true)]);
    }
  });

  test("a process that does not confirm leaves its emitter without knowledge", async () => {
    const hf = open();
    await hf.signal(name).listen();
    const [inbox = "", seat = ""] = Object.entries(await redis.hgetall(`holdfast:{${name}}:signal`))[0] ?? [];
    await hf.close();
    const stranger = redis.duplicate();
    await stranger.subscribe("stranger");
    await redis.hset(`holdfast:{${name}}:signal`, "stranger", seat);
    expect(inbox).not.toBe("stranger");
    const emitting = open({ callTimeout: 100 }).signal(name).emitOne();
    await expect(emitting).rejects.toMatchObject({ code: "INDETERMINATE" });
    stranger.disconnect();
  });

  test("a full reader is not chosen until it has room", async () => {
    const [hf, emitter] = [open(), open({ callTimeout: "10s" }).signal(name)];
    const listener = await hf.signal(name).listen({ buffer: 1 });
    await emitter.emitOne(1);
    await until(async () => !(await emitter.emitOne("none")));
    const emitted = until(() => emitter.emitOne(2));
    while (listener.take()) await pause();
    await emitted;
    expect(listener.dropped).toBe(0);
  });
});

/** As `emit-one` does, with its message lost on the way. */
async function handBehindTheBack(signal: string, id: string, data: string): Promise<void> {
  const key = `holdfast:{${signal}}:signal`;
  const [[inbox, seat] = ["", ""]] = Object.entries(await redis.hgetall(key));
  const words = seat.split(" ");
  words[6] = id;
  await redis.hset(key, inbox, words.join(" "));
  await redis.hset(`holdfast:{${signal}}:mail`, id, `0 emitter ${data}`);
}

async function handed(signal: string): Promise<string[]> {
  return redis.hkeys(`holdfast:{${signal}}:mail`);
}
