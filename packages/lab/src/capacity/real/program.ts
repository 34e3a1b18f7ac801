/** A process of the real loads: it does what its parent orders, and says what each order cost here. */
import { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { monoMs, pauseMs } from "../../chaos/time.js";
import type { Step } from "../load.js";
import { loads } from "../loads/list.js";
import { loops } from "../loads/loops.js";
import type { JoinOrder, Order, Report } from "./task.js";

interface Joined {
  readonly steps: Readonly<Record<string, Step>>;
  leave(): Promise<void>;
}

/** A hundred processes share two cores: an answer that is late there is no outage. */
const callTimeout = "30s";

let requests = 0;
let scripts = 0;
let joined: Joined | null = null;

/** Counted in the client: the server's figures do not tell a request from a command inside a script. */
function countRequests(): void {
  const { sendCommand } = Redis.prototype;
  Redis.prototype.sendCommand = function (this: Redis, ...args: Parameters<typeof sendCommand>) {
    requests += 1;
    if (args[0].name.toLowerCase().startsWith("eval")) scripts += 1;
    return sendCommand.apply(this, args);
  };
}

async function join({ load: id, place, processes, port, scale }: JoinOrder): Promise<Joined> {
  const load = [...loads, ...loops].find((each) => each.id === id);
  if (!load) throw new Error(`there is no load ${id}`);
  const client = new Redis({ host: "127.0.0.1", port });
  await client.ping();
  const holdfasts: Holdfast[] = [];
  const another = () => {
    const hf = new Holdfast(client, { label: `p${place}`, callTimeout });
    holdfasts.push(hf);
    return hf;
  };
  const steps = load.join(
    {
      ...{ place, processes, another, hf: another() },
      send: (...words) => client.call(words[0] as string, ...words.slice(1)),
      scripts: () => scripts,
      nowMs: monoMs,
      sleep: pauseMs,
    },
    scale,
  );
  const leave = async () => {
    await Promise.all(holdfasts.map((hf) => hf.close()));
    client.disconnect();
  };
  return { steps, leave };
}

async function obey(order: Order): Promise<number> {
  switch (order.kind) {
    case "join":
      joined = await join(order);
      return 0;
    case "phase":
      return (await joined?.steps[order.phase]?.()) ?? 0;
    case "leave":
      await joined?.leave();
      joined = null;
      return 0;
  }
}

async function reportOf(order: Order): Promise<Report> {
  const sent = requests;
  const cpu = process.cpuUsage();
  let done = 0;
  let error: string | null = null;
  try {
    done = await obey(order);
  } catch (thrown) {
    error = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  }
  const { user, system } = process.cpuUsage(cpu);
  return { done, requests: requests - sent, cpuMs: (user + system) / 1_000, error };
}

countRequests();
process.on("message", async (order: Order) => process.send?.(await reportOf(order)));
// The parent is gone, or is done with this process.
process.on("disconnect", () => process.exit(0));
