/** A contestant's process: it opens one contestant and does the tasks that the run sends, one answer for each. */
import { countRequests } from "../contestants/client.js";
import type { Contestant, ContestantName } from "../contestants/contestant.js";
import { roster } from "../contestants/roster.js";
import type { Limiter } from "../limiters/limiter.js";
import { checks } from "./checks.js";
import { cycles } from "./cycles.js";
import { Lanes } from "./hand-off.js";
import { Holding } from "./holding.js";
import type { Request, Task, Tasks } from "./messages.js";

const [name, portText] = process.argv.slice(2);
const port = Number(portText);

countRequests();
const { open, limiter } = roster[name as ContestantName];
/** One that does both is opened for what is asked. */
let locks: Promise<{ contestant: Contestant; lanes: Lanes; holding: Holding }> | null = null;
let limits: Promise<Limiter> | null = null;

async function openLocks() {
  if (!open) throw new Error(`${name} is no lock`);
  const contestant = await open(port);
  return { contestant, lanes: new Lanes(contestant), holding: new Holding(contestant) };
}

async function openLimits(): Promise<Limiter> {
  if (!limiter) throw new Error(`${name} limits nothing`);
  return await limiter(port);
}

async function perform(task: Task): Promise<Tasks[keyof Tasks]["out"]> {
  if (task.task === "checks") {
    limits ??= openLimits();
    return await checks(await limits, task);
  }
  locks ??= openLocks();
  const { contestant, lanes, holding } = await locks;
  switch (task.task) {
    case "cycles":
      return await cycles(contestant, task, port);
    case "acquire":
      return await lanes.acquire(task);
    case "release":
      return await lanes.release(task);
    case "hold":
      return await holding.hold(task);
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
