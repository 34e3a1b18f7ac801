/** A contestant's process: it opens one contestant and does the tasks that the run sends, one answer for each. */
import { countRequests } from "../contestants/client.js";
import type { ContestantName } from "../contestants/contestant.js";
import { roster } from "../contestants/roster.js";
import { cycles } from "./cycles.js";
import { Lanes } from "./hand-off.js";
import { Holding } from "./holding.js";
import type { Request, Task, Tasks } from "./messages.js";

const [name, portText] = process.argv.slice(2);
const port = Number(portText);

countRequests();
const contestant = await roster[name as ContestantName].open(port);
const lanes = new Lanes(contestant);
const holding = new Holding(contestant);

async function perform(task: Task): Promise<Tasks[keyof Tasks]["out"]> {
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
