// A process that takes part in a case: does what its parent orders, one answer per order.
import { Holdfast } from "holdfast";
import { Redlock } from "holdfast/redlock";
import { Redis } from "ioredis";

/** The resource: the server, or the first of the nodes. */
let redis = null;
let others = [];
let holdfast = null;
let kept = {};

const verbs = {
  start({ urls, prefix }) {
    const clients = urls.map((url) => new Redis(url));
    [redis, ...others] = clients;
    const options = { prefix, label: "contender" };
    holdfast =
      others.length === 0
        ? new Holdfast(redis, options)
        : new Redlock(clients, { ...options, quarantine: 0 });
    return Promise.all(clients.map((client) => client.ping()));
  },
  async leave() {
    await holdfast.close();
    await Promise.all([redis, ...others].map((client) => client.quit()));
    kept = {};
  },
  // Work of a case, which travels as text: the case and this process share no memory.
  perform: ({ work, argument }) => new Function(`return (${work})`)()({ holdfast, redis, kept }, argument),
  exit: () => process.exit(0),
};

process.on("message", async ({ order, verb, ...terms }) => {
  try {
    process.send({ order, value: await verbs[verb](terms) });
  } catch (error) {
    process.send({ order, error: String(error) });
  }
});
process.on("disconnect", () => process.exit(0));
