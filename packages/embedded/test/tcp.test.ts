import { connect, type Socket } from "node:net";
import { EmbeddedValkey } from "@holdfast/embedded";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encode, TcpClient } from "./resp.js";

const megabyte = 1024 * 1024;

let valkey: EmbeddedValkey;
beforeAll(async () => {
  valkey = await EmbeddedValkey.start({ maxMemory: "512mb" });
});
afterAll(() => valkey.stop());

describe("TCP", () => {
  const total = process.env.HOLDFAST_TEST_SOAK ? 30_000 : 3_000;
  it(`serves ${total} connections that connect, ping and close`, async () => {
    const parallel = 32;
    let started = 0;
    let answered = 0;
    const one = () =>
      new Promise<void>((resolve, reject) => {
        const socket = connect({ port: valkey.port, host: "127.0.0.1" });
        socket.once("error", reject);
        socket.once("data", (bytes) => {
          if (bytes.toString() === "+PONG\r\n") answered += 1;
          // A reset instead of a farewell: thousands of sockets in TIME_WAIT would use up the ports.
          socket.resetAndDestroy();
        });
        socket.once("close", () => resolve());
        socket.write("PING\r\n");
      });
    const lane = async () => {
      while (started++ < total) await one();
    };
    await Promise.all(Array.from({ length: parallel }, lane));
    expect(answered).toBe(total);
    const client = await TcpClient.open(valkey.port);
    expect(await clientsBecome(client, 1)).toBe(1);
    expect(valkey.stats().memoryBytes).toBeLessThan(16 * megabyte);
    await client.close();
  }, 120_000);

  it("does not grow for 5 slow readers of 100 MB", async () => {
    const size = 100 * megabyte;
    const client = await TcpClient.open(valkey.port);
    expect(await client.call("SETRANGE", "huge", size - 1, "x")).toBe(size);
    // The figures of a pass are there when the next one answers.
    await client.call("PING");
    const before = valkey.stats().memoryBytes;
    const readers = await Promise.all(Array.from({ length: 5 }, () => pausedReader(encode("GET", "huge"))));
    // An answer to a later command shows that the engine has taken up all five.
    expect(await clientsBecome(client, 6)).toBe(6);
    await expect(client.call("PING")).resolves.toBe("PONG");
    expect(valkey.stats().memoryBytes - before).toBeLessThan(16 * megabyte);
    const received = await Promise.all(
      readers.map((socket) => drain(socket, size + "$104857600\r\n\r\n".length)),
    );
    expect(received).toEqual(readers.map(() => size + 14));
    expect(valkey.stats().memoryBytes - before).toBeLessThan(16 * megabyte);
    for (const socket of readers) socket.destroy();
    await client.call("DEL", "huge");
    await client.close();
  }, 30_000);

  it("pauses a client that sends faster than the engine reads, and loses nothing", async () => {
    const client = await TcpClient.open(valkey.port);
    const value = Buffer.alloc(24 * megabyte, "v");
    expect(await client.call("SET", "large", value)).toBe("OK");
    expect(await client.call("STRLEN", "large")).toBe(value.length);
    expect(await client.call("DEL", "large")).toBe(1);
    const parts = Array.from({ length: 20_000 }, (_, i) => encode("RPUSH", "list", i));
    client.socket.write(Buffer.concat(parts));
    const replies = await Promise.all(parts.map(() => client.next()));
    expect(replies.at(-1)).toBe(20_000);
    await client.call("DEL", "list");
    await client.close();
  });

  it("answers a client that has closed its sending half", async () => {
    const socket = connect({ port: valkey.port, host: "127.0.0.1", allowHalfOpen: true });
    socket.end(Buffer.concat([encode("ECHO", "last words"), encode("PING")]));
    expect(await textUntilEnd(socket)).toBe("$10\r\nlast words\r\n+PONG\r\n");
  });

  it("says what was wrong before it closes on bad protocol", async () => {
    const socket = connect({ port: valkey.port, host: "127.0.0.1" });
    socket.write("*1\r\n+bad\r\n");
    expect(await textUntilEnd(socket)).toMatch(/^-ERR Protocol error/);
  });

  it("forgets clients that reset in the middle of a command", async () => {
    const half = encode("SET", "half", "x".repeat(1000)).subarray(0, 500);
    await Promise.all(
      Array.from({ length: 200 }, async () => {
        const client = await TcpClient.open(valkey.port);
        await new Promise((resolve) => client.socket.write(half, resolve));
        client.socket.resetAndDestroy();
        await client.closed;
      }),
    );
    const client = await TcpClient.open(valkey.port);
    expect(await clientsBecome(client, 1)).toBe(1);
    expect(await client.call("EXISTS", "half")).toBe(0);
    await client.close();
  });

  it("wakes a blocked client and ends its wait in time", async () => {
    const waiter = await TcpClient.open(valkey.port);
    const giver = await TcpClient.open(valkey.port);
    const popped = waiter.call("BLPOP", "line", 10);
    await giver.call("RPUSH", "line", "x");
    expect(await popped).toEqual(["line", "x"]);
    const before = process.hrtime.bigint();
    expect(await waiter.call("BLPOP", "line", "0.1")).toBe(null);
    expect(Number(process.hrtime.bigint() - before) / 1e6).toBeGreaterThan(99);
    await waiter.close();
    await giver.close();
  });

  it("keeps wall time: TIME agrees with this process", async () => {
    const client = await TcpClient.open(valkey.port);
    const before = Date.now();
    const [seconds, micros] = (await client.call("TIME")) as [string, string];
    const after = Date.now();
    const engineMs = Number(seconds) * 1000 + Number(micros) / 1000;
    expect(engineMs).toBeGreaterThan(before - 2);
    expect(engineMs).toBeLessThan(after + 2);
    await client.close();
  });

  it("tells the engine its real port", async () => {
    const client = await TcpClient.open(valkey.port);
    expect(String(await client.call("INFO", "server"))).toContain(`tcp_port:${valkey.port}`);
    await client.close();
  });
});

/** Asks until the engine counts so many clients: closing is noticed by it, not by us. */
async function clientsBecome(client: TcpClient, expected: number): Promise<number> {
  let found = -1;
  for (let i = 0; i < 10_000 && found !== expected; i++) {
    const info = String(await client.call("INFO", "clients"));
    found = Number(/connected_clients:(\d+)/.exec(info)?.[1]);
  }
  return found;
}

async function pausedReader(request: Uint8Array): Promise<Socket> {
  const socket = connect({ port: valkey.port, host: "127.0.0.1" });
  socket.pause();
  await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
  await new Promise((resolve) => socket.write(request, resolve));
  return socket;
}

function drain(socket: Socket, expected: number): Promise<number> {
  return new Promise((resolve) => {
    let received = 0;
    socket.on("data", (bytes) => {
      received += bytes.length;
      if (received >= expected) resolve(received);
    });
    socket.resume();
  });
}

function textUntilEnd(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    socket.on("data", (bytes) => {
      text += bytes.toString();
    });
    socket.once("error", reject);
    socket.once("close", () => resolve(text));
  });
}
