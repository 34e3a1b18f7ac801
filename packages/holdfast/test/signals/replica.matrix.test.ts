/** Signals over a real primary and a real replica: each connection, and each server, lost in turn. */
import { needing, program as programOf, ServerProcess, until } from "@holdfast/conformance";
import { Holdfast, type SignalListener } from "holdfast";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const QUICK = ["--repl-diskless-sync-delay", "0"];

for (const title of ["redis-server", "valkey-server"] as const) {
  needing(describe, title)(title, () => {
    const program = programOf(title);
    let primary: ServerProcess;
    let replica: ServerProcess;
    let clients: Redis[];
    let opened: Holdfast[];
    let listener: SignalListener<number>;
    let hf: Holdfast;
    let emitter: Holdfast;

    const url = ({ host, port }: ServerProcess): string => `redis://${host}:${port}`;

    function admin(server: ServerProcess): Redis {
      const client = new Redis(url(server), { retryStrategy: () => 20 });
      client.on("error", () => {}); // its server is killed on purpose
      clients.push(client);
      return client;
    }

    function open(...args: ConstructorParameters<typeof Holdfast>): Holdfast {
      const made = new Holdfast(...args);
      opened.push(made);
      return made;
    }

    beforeEach(async () => {
      [clients, opened] = [[], []];
      primary = await ServerProcess.start({ program, options: QUICK });
      const follow = ["--replicaof", primary.host, String(primary.port)];
      replica = await ServerProcess.start({ program, options: [...QUICK, ...follow] });
      await linked();
      hf = open(url(primary), { replica: url(replica) });
      emitter = open(url(primary), { callTimeout: "5s" });
      listener = await hf.signal<number>("s").listen({ buffer: 10_000 });
      await subscribed(primary);
      await subscribed(replica);
    });

    afterEach(async () => {
      await Promise.all(opened.map((each) => each.close()));
      for (const client of clients) client.disconnect();
      await Promise.all([primary.stop(), replica.stop()]);
    });

    async function linked(): Promise<void> {
      const client = admin(replica);
      await until("the replica follows", async () =>
        (await client.info("replication")).includes("master_link_status:up"),
      );
    }

    /** The replica has all that the primary has sent out. A reply may leave the primary before that. */
    async function followed(): Promise<void> {
      const [leader, follower] = [admin(primary), admin(replica)];
      const offset = async (client: Redis, field: string): Promise<string | undefined> =>
        new RegExp(`${field}:(\\d+)`).exec(await client.info("replication"))?.[1];
      await until("the replica has followed", async () => {
        const sent = await offset(leader, "master_repl_offset");
        return sent !== undefined && sent === (await offset(follower, "slave_repl_offset"));
      });
    }

    async function subscribed(server: ServerProcess): Promise<void> {
      const client = admin(server);
      await until("it listens there", async () => {
        const [, count] = (await client.pubsub("NUMSUB", "holdfast:signal:s")) as [string, number];
        return Number(count) === 1;
      });
    }

    /** Emits these numbers, one after the other. */
    async function emit(numbers: readonly number[], by: Holdfast = emitter): Promise<void> {
      for (const number of numbers) await by.signal("s").emit(number);
    }

    async function heard(count: number): Promise<(number | undefined)[]> {
      const numbers: (number | undefined)[] = [];
      while (numbers.length < count) numbers.push((await listener.next()).value?.data);
      return numbers;
    }

    /** An outage may change their order: one connection is back before the other has brought what came meanwhile. */
    async function heardAnyhow(count: number): Promise<(number | undefined)[]> {
      return (await heard(count)).sort((a = 0, b = 0) => a - b);
    }

    test("what comes by both connections is heard once", async () => {
      const numbers = Array.from({ length: 200 }, (_, n) => n);
      await emit(numbers);
      expect(await heard(200)).toEqual(numbers);
      for (const n of [1, 2, 3]) expect(await emitter.signal("s").emitOne(n)).toBe(true);
      expect(await heard(3)).toEqual([1, 2, 3]);
      expect(listener.take()).toBeNull();
    });

    test("the loss of either connection loses no signal", async () => {
      let next = 0;
      for (const server of [primary, replica, primary, replica]) {
        const client = admin(server);
        await client.call("CLIENT", "KILL", "TYPE", "pubsub");
        const numbers = Array.from({ length: 20 }, () => next++);
        await emit(numbers);
        expect(await heardAnyhow(20)).toEqual(numbers);
        await subscribed(server);
      }
    });

    test("the loss of the replica loses no signal, and it is used again when it is back", async () => {
      await replica.kill();
      const numbers = Array.from({ length: 50 }, (_, n) => n);
      await emit(numbers);
      expect(await heardAnyhow(50)).toEqual(numbers);
      await replica.launch();
      await linked();
      await subscribed(replica);
      await admin(primary).call("CLIENT", "KILL", "TYPE", "pubsub");
      await emit([50]);
      expect(await heardAnyhow(1)).toEqual([50]);
    });

    test("the loss of the primary loses no signal that the replica saw, and those of the promoted replica are heard", async () => {
      const numbers = Array.from({ length: 50 }, (_, n) => n);
      await emit(numbers);
      await followed();
      await primary.kill();
      expect(await heardAnyhow(50)).toEqual(numbers);
      await admin(replica).replicaof("NO", "ONE");
      await emit([50, 51], open(url(replica)));
      expect(await heardAnyhow(2)).toEqual([50, 51]);
    });

    test("emitOne reaches a process that hears the replica only", async () => {
      const client = admin(primary);
      // Its connection for messages cannot come back to the primary.
      await client.call("ACL", "SETUSER", "default", "-subscribe");
      await client.call("CLIENT", "KILL", "TYPE", "pubsub");
      for (const n of [1, 2]) expect(await emitter.signal("s").emitOne(n)).toBe(true);
      expect(await heard(2)).toEqual([1, 2]);
    });

    test("a wait begins with the replica alone while the primary is away", async () => {
      await followed(); // the replica has the id of the place
      await primary.kill();
      const waiting = hf.signal("other").wait();
      const client = admin(replica);
      await until("it listens at the replica", async () => {
        const [, count] = (await client.pubsub("NUMSUB", "holdfast:signal:other")) as [string, number];
        return Number(count) === 1;
      });
      await client.replicaof("NO", "ONE");
      await open(url(replica)).signal("other").emit("by the replica");
      expect((await waiting)?.data).toBe("by the replica");
    });

    test("the doctor looks whether the replica follows this server", async () => {
      const codes = async (holdfast: Holdfast): Promise<string[]> =>
        (await holdfast.doctor()).findings.map(({ code }) => code);
      expect(await codes(hf)).not.toContain("signal-replica");
      const wrong = open(url(primary), { replica: url(primary) });
      expect(await codes(wrong)).toContain("signal-replica");
      await replica.kill();
      expect(await codes(hf)).toContain("signal-replica");
    });

    test("a replica's client stays the caller's, and nothing is sent to it but subscriptions", async () => {
      const own = admin(replica);
      // Not what the replica follows, such as the id of the place that was set just now.
      await followed();
      await own.config("RESETSTAT");
      const both = open(url(primary), { replica: own });
      await both.signal("s").listen();
      await both.close();
      expect(await own.ping()).toBe("PONG");
      const stats = await own.info("commandstats");
      expect(stats).not.toMatch(/cmdstat_(eval|evalsha|get|set)/);
    });
  });
}
