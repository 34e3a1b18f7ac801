/** The faults of a way to the server, seen from its end: nothing is lost in a connection that goes on. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { FaultProxy, until } from "@holdfast/conformance";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Dice } from "../../src/chance/dice.ts";
import type { Nemesis } from "../../src/chaos/nemeses/nemesis.ts";
import { cut, delay, hold, refuse, strand, swallow } from "../../src/chaos/nemeses/network.ts";
import type { Scene, Slot } from "../../src/chaos/scene.ts";

describe("a fault of the network", () => {
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

  /** Numbers that go out one by one while the fault lasts, and those that came back. */
  async function traffic(
    nemesis: Nemesis,
    seed: number,
  ): Promise<{ sent: string; back: string; ended: boolean }> {
    const socket: Socket = connect({ host: "127.0.0.1", port: proxy.port });
    socket.on("error", () => {});
    await once(socket, "connect");
    const seen = { sent: "", back: "", ended: false };
    socket.on("data", (bytes) => {
      seen.back += bytes;
    });
    socket.on("close", () => {
      seen.ended = true;
    });
    let next = 0;
    const timer = setInterval(() => {
      if (socket.destroyed) return;
      seen.sent += `${next} `;
      socket.write(`${next++} `);
    }, 3);
    const scene = { ttlMs: 60 } as Scene;
    await nemesis.strike({ scene, slot: { proxy } as Slot, dice: new Dice(seed) });
    clearInterval(timer);
    await until("all is answered", () => seen.back.length >= seen.sent.length || seen.ended);
    socket.destroy();
    return seen;
  }

  it.each([cut, swallow, refuse, hold, delay, strand].map((nemesis) => [nemesis.kind, nemesis] as const))(
    "%s leaves no hole in a stream",
    async (_kind, nemesis) => {
      for (let seed = 1; seed <= 3; seed++) {
        heard = "";
        const { sent, back, ended } = await traffic(nemesis, seed);
        expect(heard.startsWith(back), `seed ${seed}: what came back is a beginning of what was heard`).toBe(
          true,
        );
        expect(sent.startsWith(heard), `seed ${seed}: what was heard is a beginning of what was sent`).toBe(
          true,
        );
        if (!ended) expect(back, `seed ${seed}: a connection that goes on has lost nothing`).toBe(sent);
      }
    },
  );

  it("what is stranded is heard after the connection has broken", async () => {
    const socket = connect({ host: "127.0.0.1", port: proxy.port }).on("error", () => {});
    await once(socket, "connect");
    proxy.set({ up: "hold" });
    socket.write("late");
    await until("the proxy holds it", () => proxy.held("up") > 0);
    proxy.strand();
    await until("the connection is over", () => socket.closed);
    expect(heard).toBe("");
    await proxy.deliverStranded();
    await until("it is heard", () => heard === "late");
  });
});
