/**
 * How fast is the embedded engine next to a native redis-server, through the same raw client?
 *
 *   npx tsx packages/embedded/bench/throughput.ts [--json] [--rounds 5] [--ms 1000]
 *
 * Rounds alternate between the two servers within one run, so that a busy machine burdens both alike;
 * the figures are medians over the rounds.
 */
import { spawn } from "node:child_process";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { parseArgs } from "node:util";
import { EmbeddedValkey } from "@holdfast/embedded";

const { values: flags } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    rounds: { type: "string", default: "5" },
    ms: { type: "string", default: "1000" },
    server: { type: "string", default: "redis-server" },
  },
});
const rounds = Number(flags.rounds);
const roundMs = Number(flags.ms);
const command = Buffer.from("*3\r\n$3\r\nSET\r\n$9\r\nbench:key\r\n$8\r\n12345678\r\n");
const replyBytes = "+OK\r\n".length;

const nowMs = () => Number(process.hrtime.bigint()) / 1e6;

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => resolve(socket));
    socket.once("error", reject);
  });
}

/** SETs per second with one command in flight on each of `connections` connections. */
async function setsPerSecond(port: number, connections: number): Promise<number> {
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)));
  let sets = 0;
  const start = nowMs();
  const end = start + roundMs;
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve) => {
          let received = 0;
          socket.on("data", (bytes) => {
            received += bytes.length;
            if (received < replyBytes) return;
            received = 0;
            sets += 1;
            if (nowMs() < end) socket.write(command);
            else resolve();
          });
          socket.write(command);
        }),
    ),
  );
  const elapsedMs = nowMs() - start;
  for (const socket of sockets) socket.destroy();
  return (sets / elapsedMs) * 1000;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function startNative(): Promise<{ port: number; stop(): Promise<void> }> {
  const port = await freePort();
  const child = spawn(flags.server, [
    "--port",
    String(port),
    "--save",
    "",
    "--appendonly",
    "no",
    "--bind",
    "127.0.0.1",
  ]);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.stdout.on("data", (text) => String(text).includes("Ready to accept") && resolve());
  });
  return {
    port,
    async stop() {
      child.kill();
      await ended;
    },
  };
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number;

const startMs: number[] = [];
for (let i = 0; i < rounds; i++) {
  const before = nowMs();
  const valkey = await EmbeddedValkey.start();
  startMs.push(nowMs() - before);
  await valkey.stop();
}

const native = await startNative();
const embedded = await EmbeddedValkey.start();
const results = [];
for (const connections of [1, 50]) {
  const rates = { native: [] as number[], embedded: [] as number[] };
  for (let round = -1; round < rounds; round++) {
    for (const [name, port] of [
      ["native", native.port],
      ["embedded", embedded.port],
    ] as const) {
      const rate = await setsPerSecond(port, connections);
      // The first round of each warms up.
      if (round >= 0) rates[name].push(rate);
    }
  }
  const nativeRate = Math.round(median(rates.native));
  const embeddedRate = Math.round(median(rates.embedded));
  results.push({
    connections,
    nativeRate,
    embeddedRate,
    ratio: Number((embeddedRate / nativeRate).toFixed(3)),
  });
}
await embedded.stop();
await native.stop();

const report = {
  node: process.version,
  rounds,
  roundMs,
  firstStartMs: Math.round(startMs[0] as number),
  startMs: Math.round(median(startMs)),
  results,
};
if (flags.json) console.log(JSON.stringify(report));
else {
  console.table(results);
  console.log(`start: first ${report.firstStartMs} ms, median ${report.startMs} ms (${report.node})`);
}
