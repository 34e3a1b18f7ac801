import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { FaultProxy } from "@holdfast/conformance";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const PING = "*1\r\n$4\r\nPING\r\n";

describe("FaultProxy", () => {
  let echo: Server;
  let proxy: FaultProxy;
  let heard = "";

  beforeEach(async () => {
    heard = "";
    echo = createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", (bytes) => {
        heard += bytes;
        socket.write(bytes);
      });
    });
    await new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve));
    proxy = await FaultProxy.start({ host: "127.0.0.1", port: (echo.address() as AddressInfo).port });
  });

  afterEach(async () => {
    await proxy.close();
    await new Promise((resolve) => echo.close(resolve));
  });

  async function open(): Promise<Socket> {
    const socket = connect({ host: "127.0.0.1", port: proxy.port });
    socket.on("error", () => {});
    await once(socket, "connect");
    return socket;
  }

  /** Also of a connection that is reset: `once` would reject with that error. */
  function end(socket: Socket): Promise<void> {
    return new Promise((resolve) => socket.once("close", () => resolve()));
  }

  it("passes bytes both ways and counts the commands in them, however they are cut", async () => {
    const socket = await open();
    socket.write(PING.slice(0, 7));
    await proxy.when("the first piece", () => proxy.writes === 1);
    expect(proxy.requests).toEqual([]);
    socket.write(`${PING.slice(7)}*2\r\n$7\r\nEVALSHA\r\n$5\r\n\u00e9 \r\n\r\n`);
    await proxy.when("the commands", () => proxy.requests.length === 2);
    expect(proxy.requests).toEqual([["PING"], ["EVALSHA", "\u00e9 \r\n"]]);
    expect(proxy.scriptCalls.length).toBe(1);
    socket.destroy();
  });

  it("delays bytes, and lets none of a connection overtake another when the delay ends", async () => {
    const socket = await open();
    let answers = "";
    socket.on("data", (bytes) => {
      answers += bytes;
    });
    proxy.set({ downDelayMs: 60 });
    socket.write("first ");
    await proxy.when("the first piece", () => heard === "first ");
    proxy.heal();
    socket.write("second");
    while (answers.length < 12) await once(socket, "data");
    expect(answers).toBe("first second");
    socket.destroy();
  });

  it("holds bytes in their order and delivers them late", async () => {
    const socket = await open();
    proxy.set({ down: "hold" });
    socket.write(PING);
    await proxy.when("an answer that is held back", () => proxy.held("down") > 0);
    expect(heard).toBe(PING);
    expect(socket.read()).toBe(null);
    proxy.heal();
    const [bytes] = await once(socket, "data");
    expect(String(bytes)).toBe(PING);
    socket.destroy();
  });

  it("breaks a connection that lost bytes when it heals", async () => {
    const socket = await open();
    proxy.set({ up: "drop" });
    socket.write(PING);
    await proxy.when("the loss", () => proxy.dropped("up") === 1);
    const closed = end(socket);
    proxy.heal();
    await closed;
    expect(heard).toBe("");
    expect(proxy.connections).toBe(0);
  });

  it("hurts the connection that listens and leaves the other alone", async () => {
    const [commands, inbox] = [await open(), await open()];
    inbox.write("*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nx\r\n");
    await once(inbox, "data");
    const closed = end(inbox);
    proxy.cut("inbox");
    await closed;
    commands.write(PING);
    expect(String((await once(commands, "data"))[0])).toBe(PING);
    commands.destroy();
  });

  it("takes no connection while it refuses", async () => {
    proxy.refuse();
    const socket = connect({ host: "127.0.0.1", port: proxy.port });
    socket.on("error", () => {});
    await end(socket);
    proxy.heal();
    (await open()).destroy();
  });
});
