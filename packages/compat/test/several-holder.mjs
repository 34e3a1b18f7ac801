// A process that holds a lock over several servers until it is killed. Runs the compiled library, as users do.
import { Redlock, redlockOf } from "@holdfast/compat/redlock";
import { Redis } from "ioredis";

const [name, ttlMs, ...urls] = process.argv.slice(2);
const clients = urls.map((url) => new Redis(url));
redlockOf(clients, { quarantine: 0 });
await new Redlock(clients).acquire([name], Number(ttlMs));
process.send("held");
