/** Cases about messages of other programs: who may publish on the server can send anything to every channel. */
import assert from "node:assert/strict";
import type { Holdfast } from "holdfast";
import type { NounCase, NounLab } from "../case.js";
import { framed } from "../framed.js";
import { until } from "../wait.js";
import { waitsOf } from "./waits.js";

/** The soak sends a hundred thousand. */
const MESSAGES = 2_000;
const BATCH = 100;

/** Publishes ARGV[2n] on ARGV[2n - 1], each byte as two digits: a client may not send what is no text. */
const PUBLISH_BYTES = `for place = 1, #ARGV, 2 do
  local bytes = string.gsub(ARGV[place + 1], '..', function(byte) return string.char(tonumber(byte, 16)) end)
  redis.call('PUBLISH', ARGV[place], bytes)
end`;

/** Numbers that look random, and are the same in every run. */
function diceOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const VERBS = [
  "grant",
  "wake",
  "revoked",
  "semaphore",
  "rwlock",
  "queue",
  "lanes",
  "signal",
  "emitted",
  "tripped",
  "yield",
];
const WORDS = [
  "",
  "x",
  "0",
  "-1",
  "1e999",
  "9".repeat(40),
  "0000000000000001",
  "%",
  "%E0%A4%A",
  "{",
  'j"',
  "j{}",
  "b!",
  "🎏",
  "\u0000",
  "a:b:c:d",
  "1:2:3:4",
  "1:2:3:4:%E0",
  "__proto__",
  "constructor",
];

/** Each verb of an inbox with each word that is none of its own. */
function hostileWords(): Buffer[] {
  return VERBS.flatMap((verb) => WORDS.map((word) => Buffer.from(framed("", `${verb} ${word} ${word}`))));
}

/** What a program of another layout, an earlier release or an attacker without the ids of this place might send. */
function messageOf(dice: (below: number) => number, place: string, whole: readonly string[]): Buffer {
  const words = Array.from({ length: dice(7) }, () => WORDS[dice(WORDS.length)]).join(" ");
  switch (dice(5)) {
    case 0:
      return Buffer.from(Array.from({ length: dice(40) }, () => dice(256)));
    case 1:
      return Buffer.from(`${VERBS[dice(VERBS.length)]} ${words}`);
    case 2:
      return Buffer.from(
        framed(["", "elsewhere", `${place}x`][dice(3)] ?? "", `${VERBS[dice(VERBS.length)]} ${words}`),
      );
    case 3:
      // A state that is not true, of another place, or in the words of an earlier layout.
      return Buffer.from(
        [framed("elsewhere", LATER), LATER, `9999999999999999 9999999999999999 1 j"lie"`][dice(3)] ?? "",
      );
    default: {
      const bytes = Buffer.from(whole[dice(whole.length)] ?? "");
      return dice(2) === 0
        ? bytes.subarray(0, dice(bytes.length))
        : bytes.subarray(1 + dice(bytes.length - 1));
    }
  }
}

/** A record, as a write would tell it. */
const LATER = `9999999999999999 0 j"lie"`;

/** Whole messages that would be believed, were they not cut short. */
async function wholeMessages(lab: NounLab, place: string, name: string): Promise<string[]> {
  const line = await lineOf(lab, name);
  return [
    framed(place, LATER),
    framed(place, `9999999999999999 9999999999999999 1 j"lie"`),
    framed(place, "9999999999999999 9999999999999999 9999999999999999 2 0"),
    ...line.map((id) => framed("", `grant ${id} 9999999999999999 1 60000 ${lab.prefix}:{${name}}:lock`)),
  ];
}

async function lineOf(lab: NounLab, name: string): Promise<readonly string[]> {
  return (await lab.command("ZRANGE", `${lab.prefix}:{${name}}:line`, "0", "-1")) as readonly string[];
}

/** Waits of every noun, which nothing of this case ends. */
function openAll(holdfast: Holdfast, name: string): readonly Promise<unknown>[] {
  const forever = { wait: Number.POSITIVE_INFINITY };
  return [
    holdfast.semaphore(name, { permits: 1 }).acquire(forever),
    holdfast.rwLock(name).write().acquire(forever),
    ...waitsOf(holdfast, name).map((wait) => wait()),
  ];
}

/** What a process with every noun open has heard. */
interface Heard {
  /** The waits that have ended. */
  readonly settled: string[];
  /** The values of the record. */
  readonly seen: unknown[];
  readonly delivered: unknown[];
  /** Resolves when everything has ended. */
  readonly ended: Promise<unknown>;
}

function listen(holdfast: Holdfast, name: string): Heard {
  const [settled, seen, delivered]: [string[], unknown[], unknown[]] = [[], [], []];
  const ends = openAll(holdfast, name).map((wait, place) =>
    wait.then(
      (value) => void settled.push(`${place} resolved with ${String(value)}`),
      (error: unknown) => void settled.push(`${place} rejected with ${String(error)}`),
    ),
  );
  const watching = (async () => {
    for await (const change of holdfast.record(name).watch()) seen.push(change?.value);
  })().catch((error: unknown) => void seen.push(error));
  holdfast.lanes(name).consume((delivery) => void delivered.push(delivery.body));
  return { settled, seen, delivered, ended: Promise.all([...ends, watching]) };
}

/** Sends so many messages that are drawn, after each hostile word, to every channel that the process listens to. */
async function flood(lab: NounLab, holdfast: Holdfast, name: string, count: number): Promise<void> {
  // A user without the right to patterns hears nothing by them.
  const listensToAll = await holdfast.signals
    .matching("*")
    .listen()
    .then(
      () => true,
      () => false,
    );
  const place = String(await lab.command("GET", `${lab.prefix}:place`));
  const whole = await wholeMessages(lab, place, name);
  const channels = (await lab.command("PUBSUB", "CHANNELS", `${lab.prefix}:*`)) as readonly string[];
  const targets = [...channels, ...(listensToAll ? [`${lab.prefix}:signal:any`] : [])];
  const every = targets.flatMap((target) =>
    hostileWords().map((message): [string, Buffer] => [target, message]),
  );
  const dice = diceOf(26);
  const drawn = Array.from({ length: count }, (): [string, Buffer] => [
    targets[dice(targets.length)] ?? "",
    messageOf(dice, place, whole),
  ]);
  const messages = [...every, ...drawn];
  for (let sent = 0; sent < messages.length; sent += BATCH) {
    const batch = messages.slice(sent, sent + BATCH);
    const args = batch.flatMap(([target, bytes]) => [target, bytes.toString("hex")]);
    await lab.command("EVAL", PUBLISH_BYTES, "0", ...args);
    await lab.settled(holdfast);
  }
}

/** @param count of the messages that are drawn; each hostile word comes besides */
export function strangersCase(count: number): NounCase {
  return {
    name: "no message of a stranger, whatever its bytes, ends a wait or a process, or is believed [H80]",
    covers: ["a message in the bytes of another program, or of another release"],
    needs: [],
    async run(lab) {
      const [other, holdfast] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const held = await Promise.all([
        ...[name, `election:${name}`, `once:${name}`].map((each) => other.mutex(each).acquire()),
        other.semaphore(name, { permits: 1 }).acquire(),
        other.rwLock(name).write().acquire(),
      ]);
      await other.record(name).put("true");
      const heard = listen(holdfast, name);
      await until("it waits at the barrier", async () => (await other.barrier(name, 2).get()).arrived === 1);
      await until("it watches the record", () => heard.seen.length === 1);
      await until("it stands in line", async () => (await lineOf(lab, name)).length > 0);
      await flood(lab, holdfast, name, count);
      assert.equal(heard.settled.join(), "");
      assert.equal(heard.delivered.length, 0);
      await other.record(name).put("truer");
      await until("the watch goes on", () => heard.seen.at(-1) === "truer");
      assert.deepEqual([...new Set(heard.seen)], ["true", "truer"]);
      assert.equal(await other.signal(name).emit("real"), 1);
      await until("the signal is heard", () => heard.settled.some((text) => text.startsWith("5 resolved")));
      await holdfast.close();
      await heard.ended;
      for (const lease of held) assert.equal(await lease.release(), "released");
    },
  };
}

export const messageCases: readonly NounCase[] = [strangersCase(MESSAGES)];
