/**
 * One web server process. GET /WebStore sells one piece; GET /healthz says that the process listens.
 *
 * It lives exactly as long as the process that started it: when the channel to that one breaks, it exits.
 */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { Redis } from "ioredis";
import { toldOf } from "../failure.js";
import { lockClient } from "../lock-servers.js";
import { openStore } from "../store/open.js";
import { Counter } from "./counter.js";
import {
  type FromServer,
  type SaleAnswer,
  SETUP_VARIABLE,
  type ServerSetup,
  type ToServer,
} from "./messages.js";

const setup = JSON.parse(process.env[SETUP_VARIABLE] ?? "{}") as ServerSetup;
const host = hostname();
// Sales must not be sent twice because an answer was lost: a sale that may have happened is an error, not a second sale.
const redis = new Redis(setup.redisUrl, { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 });
const lockClients = setup.lockUrls.map(lockClient);
let counter: Counter | null = null;

function say(message: FromServer): void {
  if (process.connected) process.send?.(message);
}

function answer(
  response: ServerResponse,
  status: number,
  body: SaleAnswer | { readonly error: string },
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}

async function serveSale(response: ServerResponse): Promise<void> {
  if (!counter) return answer(response, 503, { error: "the store is not open" });
  try {
    const { sold, left } = await counter.sell();
    answer(response, 200, { host, pid: process.pid, sold, left });
  } catch (error) {
    answer(response, 503, { error: error instanceof Error ? error.message : String(error) });
  }
}

const server: Server = createServer((request, response) => {
  const path = request.url?.split("?", 1)[0];
  if (request.method === "GET" && path === "/WebStore") void serveSale(response);
  else if (request.method === "GET" && path === "/healthz") response.writeHead(204).end();
  else answer(response, 404, { error: "GET /WebStore sells one piece" });
});

/** Tells the first process that the lock is held, and goes no further: the kill must find it held. */
function dieHolding(dieAtLeft: number): (left: number) => Promise<void> {
  return async (left) => {
    if (left > dieAtLeft) return;
    say({ type: "holding" });
    await new Promise<never>(() => {});
  };
}

async function open(stockName: string, dieAtLeft: number | null): Promise<void> {
  const { prefix, ttlMs, variant } = setup;
  const whileHeld = dieAtLeft === null ? {} : { whileHeld: dieHolding(dieAtLeft) };
  const store = await openStore(variant, { redis, lockClients, prefix, stockName, ttlMs, ...whileHeld });
  counter = new Counter(store);
}

async function obey(order: ToServer): Promise<void> {
  if (order.type === "open") {
    await open(order.stockName, order.dieAtLeft);
    say({ type: "opened" });
  } else if (order.type === "close") {
    const closing = counter;
    counter = null;
    if (closing) say({ type: "closed", tally: await closing.close() });
  } else {
    await counter?.close();
    process.exit(0);
  }
}

function failWith(error: unknown): void {
  say({ type: "failed", message: toldOf(error) });
}

// Ctrl-C reaches the whole process group; the first process ends the sale in order and then says stop.
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit(0));
process.on("message", (order: ToServer) => void obey(order).catch(failWith));
redis.on("error", () => {}); // A broken connection fails the sales that need it; it must not end the process.

server.keepAliveTimeout = 60_000;
server.on("error", failWith);

try {
  if (setup.saleOn !== null) await open(setup.saleOn, null);
  server.listen({ port: setup.port, host: "127.0.0.1", exclusive: setup.apart }, () => {
    say({ type: "listening", port: (server.address() as AddressInfo).port });
  });
} catch (error) {
  failWith(error);
}
