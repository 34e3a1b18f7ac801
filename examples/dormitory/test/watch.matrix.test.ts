/** The stream of views of a student, while the connection to Redis breaks and comes back. */
import { FaultProxy } from "@holdfast/conformance";
import { expect, onTestFinished, test } from "vitest";
import { openDormitory } from "../src/state/dormitory.js";
import { openFaculty } from "./faculty.js";

const postgresUrl = "postgres://nobody@127.0.0.1:1/none";

test.each([
  ["refuses connections", 1_500, (wire: FaultProxy) => wire.refuse()],
  ["does not answer", 0, (wire: FaultProxy) => wire.set({ up: "hold" })],
])(
  "a place in the lane is followed by one word while Redis %s, and then by the same place",
  async (_, quietMs, strike) => {
    const { batch, redisUrl, processes, student } = await openFaculty({
      way: "lanes",
      students: 20,
      processes: 1,
    });
    const wire = await FaultProxy.start({ host: "127.0.0.1", port: Number(new URL(redisUrl).port) });
    const dormitory = openDormitory({ redisUrl: wire.url, postgresUrl, prefix: "faculty" });
    const over = new AbortController();
    onTestFinished(async () => {
      over.abort();
      await dormitory.close();
      await wire.close();
    });
    const one = student(batch.students[0]?.number ?? "");
    await processes[0]?.selection.grab(one);
    const views = dormitory.selection.watch(one, over.signal)[Symbol.asyncIterator]();
    const next = async () => (await views.next()).value;
    const place = await next();
    expect(place).toMatchObject({ state: "waiting", position: 1 });
    strike(wire);
    expect(await next()).toEqual({ state: "away" });
    const again = next();
    // Further looks while Redis is away say nothing new.
    const early = await Promise.race([
      again,
      new Promise((resolve) => setTimeout(resolve, quietMs, "nothing")),
    ]);
    expect(early).toBe("nothing");
    wire.heal();
    expect(await again).toMatchObject({ state: "waiting", position: 1 });
  },
);
