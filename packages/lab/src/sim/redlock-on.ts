/** A Redlock in the world: the unchanged library on the clock and the chance of a process, over several nodes. */
import { Redlock, type RedlockOptions } from "holdfast/redlock";
import type { Link } from "./link.js";
import { SimClient, type SimClientOptions } from "./sim-client.js";

/**
 * Over a client of its own for each node. Call it within `process.run()`.
 * @param links of one process, one to each node
 */
export function redlockOn(
  links: readonly Link[],
  { client, ...options }: RedlockOptions & { readonly client?: SimClientOptions } = {},
): Redlock {
  const [first] = links;
  if (!first) throw new RangeError("a Redlock has one node at least");
  const { clock, random, name: label } = first.process;
  const clients = links.map((link) => new SimClient(link, client));
  return new Redlock(clients, { clock, random, label, ...options });
}
