/** A contestant's process: it opens one contestant and does the tasks that the run sends, one answer for each. */
import { isBefore, loadBefore } from "../contestants/before.js";
import { countRequests } from "../contestants/client.js";
import type { Contestant, ContestantName } from "../contestants/contestant.js";
import { entryOf } from "../contestants/roster.js";
import type { Limiter } from "../limiters/limiter.js";
import type { Teller } from "../tellers/teller.js";
import { checks } from "./checks.js";
import { cycles } from "./cycles.js";
import { Delivering, isOfDelivering } from "./delivering.js";
import { firstCycles } from "./first-cycles.js";
import { Lanes } from "./hand-off.js";
import { Holding } from "./holding.js";
import type { Request, Task, Tasks } from "./messages.js";
import { hear, tell } from "./words.js";

const [name = "", portsText = ""] = process.argv.slice(2);
const ports = portsText.split(",").map(Number);
const port = ports[0] as number;

countRequests();
if (isBefore(name)) loadBefore();
const { open, redlock, limiter, teller, courier } = entryOf(name as ContestantName);
/** One that does both is opened for what is asked. */
let locks: Promise<{ contestant: Contestant; lanes: Lanes; holding: Holding }> | null = null;
let limits: Promise<Limiter> | null = null;
let words: Promise<Teller> | null = null;
let delivering: Promise<Delivering> | null = null;

async function openLocks() {
  const opened = ports.length > 1 ? redlock?.(ports) : open?.(port);
  if (!opened) throw new Error(`${name} is no lock over ${ports.length} servers`);
  const contestant = await opened;
  return { contestant, lanes: new Lanes(contestant), holding: new Holding(contestant) };
}

async function openLimits(): Promise<Limiter> {
  if (!limiter) throw new Error(`${name} limits nothing`);
  return await limiter(port);
}

async function openWords(): Promise<Teller> {
  if (!teller) throw new Error(`${name} tells nothing`);
  return await teller(port);
}

async function openDelivering(): Promise<Delivering> {
  if (!courier) throw new Error(`${name} delivers nothing`);
  return new Delivering(await courier(port));
}

async function perform(task: Task): Promise<Tasks[keyof Tasks]["out"]> {
  if (task.task === "checks") {
    limits ??= openLimits();
    return await checks(await limits, task);
  }
  if (task.task === "hear" || task.task === "tell") {
    words ??= openWords();
    return task.task === "hear" ? await hear(await words, task) : await tell(await words, task);
  }
  if (isOfDelivering(task)) {
    delivering ??= openDelivering();
    return await (await delivering).perform(task);
  }
  locks ??= openLocks();
  const { contestant, lanes, holding } = await locks;
  switch (task.task) {
    case "cycles":
      return await cycles(contestant, task, port);
    case "first-cycles":
      return await firstCycles(contestant, task);
    case "acquire":
      return await lanes.acquire(task);
    case "release":
      return await lanes.release(task);
    case "hold":
      return await holding.hold(task);
    case "stand":
      return holding.stand(task);
    case "watch":
      return await holding.watch(task);
    case "let-go":
      return await holding.letGo();
  }
}

process.on("message", async ({ id, body }: Request) => {
  try {
    process.send?.({ id, result: await perform(body) });
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
// The run is gone, or is done with this process.
process.on("disconnect", () => process.exit(0));
process.send?.({ ready: true });
