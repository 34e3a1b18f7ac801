/** A Holdfast in the world: the unchanged library on the clock and the chance of a process. */
import { Holdfast, type HoldfastOptions } from "holdfast";
import type { Link } from "./link.js";
import { SimClient, type SimClientOptions } from "./sim-client.js";

/** Over a client of its own. Call it within `process.run()`. */
export function holdfastOn(
  link: Link,
  { client, ...options }: HoldfastOptions & { readonly client?: SimClientOptions } = {},
): Holdfast {
  const { clock, random, name: label } = link.process;
  return new Holdfast(new SimClient(link, client), { clock, random, label, ...options });
}
