/** The free places of a process that Redis knows of, where gifts and answers cross. */
import { expect, test } from "vitest";
import { ServerError } from "../../src/errors.js";
import { forever, onEngine, open, parked, ready, until, untilIdle } from "./intake-lab.js";

onEngine();

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test("gifts that a leave has brought before come late: when the waits are over, none is left", async () => {
  const [here, there] = [open(), open()];
  await ready(here);
  const waits = [here.intake.receive(forever), here.intake.receive(forever)];
  await untilIdle(2);
  const late = holdBack(here);
  await there.push("a", "b");
  // As when the inbox comes up: the gifts may have been lost before.
  here.intake.turned();
  await until(() => here.takes.length === 2);
  const confirm = delayExtensions(here);
  await answered(here);
  late();
  confirm();
  const deliveries = await Promise.all(waits);
  expect(deliveries.map((delivery) => delivery?.body).sort()).toEqual(["a", "b"]);
  await untilIdle(0);
});

test("a gift to a wait that was aborted comes to the next one: when that is over, none is left", async () => {
  const [here, there] = [open(), open()];
  await ready(here);
  const stop = new AbortController();
  const aborted = here.intake.receive({ ...forever, signal: stop.signal }).catch(() => "aborted");
  await untilIdle(1);
  const late = holdBack(here);
  await there.push("a");
  stop.abort();
  const next = here.intake.receive(forever);
  expect(await aborted).toBe("aborted");
  await untilIdle(1);
  await answered(here);
  late();
  expect(await next).toMatchObject({ body: "a" });
  await untilIdle(0);
});

test("the same, where the gift comes before the answer to the take", async () => {
  const [here, there] = [open(), open()];
  await ready(here);
  const stop = new AbortController();
  const aborted = here.intake.receive({ ...forever, signal: stop.signal }).catch(() => "aborted");
  await untilIdle(1);
  const late = holdBack(here);
  await there.push("a");
  stop.abort();
  const hold = delayAnswers(here);
  const next = here.intake.receive(forever);
  expect(await aborted).toBe("aborted");
  await untilIdle(1);
  // Its deadline is not confirmed yet, so the wait goes on when the answer comes.
  const confirm = delayExtensions(here);
  late();
  hold();
  await answered(here);
  confirm();
  expect(await next).toMatchObject({ body: "a" });
  await untilIdle(0);
});

test("a leave that the server refuses for a while is no leave: the next end of a wait gives up the place", async () => {
  const here = open();
  await ready(here);
  const stops = [new AbortController(), new AbortController()];
  const [first, second] = stops.map(({ signal }) =>
    here.intake.receive({ ...forever, signal }).catch(() => "aborted"),
  );
  await untilIdle(2);
  await answered(here);
  here.doors.leave = () => Promise.reject(new ServerError("BUSY a script runs"));
  for (const stop of stops) stop.abort();
  expect([await first, await second]).toEqual(["aborted", "aborted"]);
  await until(() => here.sent.includes("leave"));
  await pause(1);
  Reflect.deleteProperty(here.doors, "leave");
  here.intake.withdrawn();
  await untilIdle(0);
});

test("a consumer that has stopped leaves nothing behind, also where a gift from before the last take is late", async () => {
  const [here, there] = [open(), open()];
  await ready(here);
  let begun = 0;
  const consumer = here.intake.consume(() => {
    begun += 1;
    return new Promise(() => {});
  }, {});
  await untilIdle(1);
  holdBack(here);
  await there.push("a");
  await there.push("b");
  here.intake.message();
  await until(() => begun === 1);
  await consumer.stop({ grace: 0 });
  expect(await parked()).toBe(0);
});

test("an ordinary wait costs a take and an extension, whichever comes first: its gift, or the answer", async () => {
  const [here, there] = [open(), open()];
  await ready(here);
  for (const isGiftFirst of [false, true]) {
    const hold = isGiftFirst ? delayAnswers(here) : () => {};
    const waiting = here.intake.receive(forever);
    await untilIdle(1);
    if (!isGiftFirst) await answered(here);
    const confirm = delayExtensions(here);
    here.sent.length = 0;
    await there.push("a");
    await until(() => here.sent.includes("extend"));
    hold();
    await answered(here);
    confirm();
    const delivery = await waiting;
    await pause(5);
    expect(here.sent).toEqual(["extend"]);
    await delivery?.ack();
  }
});

/** Gifts are late: they come when the test calls the result. */
function holdBack(process: ReturnType<typeof open>): () => void {
  const real = process.intake.message.bind(process.intake);
  const held: Parameters<typeof real>[] = [];
  process.intake.message = (...words) => void (words[0] === undefined ? real() : held.push(words));
  return () => {
    process.intake.message = real;
    for (const words of held) real(...words);
  };
}

/** Takes are carried out, and their answers come when the test calls the result. */
function delayAnswers(process: ReturnType<typeof open>): () => void {
  const [released, release] = gate();
  process.doors.take = async (request) => {
    const taken = await process.scripts.take(request);
    await released;
    return taken;
  };
  return () => {
    Reflect.deleteProperty(process.doors, "take");
    release();
  };
}

/** Extensions wait until the test calls the result. */
function delayExtensions(process: ReturnType<typeof open>): () => void {
  const [released, release] = gate();
  process.doors.extend = async (...args) => {
    await released;
    return process.scripts.parcels.extend(...args);
  };
  return () => {
    Reflect.deleteProperty(process.doors, "extend");
    release();
  };
}

function gate(): [Promise<void>, () => void] {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return [released, release];
}

/** Resolves when the process has had the answers to what it has sent. */
async function answered(process: ReturnType<typeof open>): Promise<void> {
  await process.scripts.peek(1);
  await pause(1);
}
