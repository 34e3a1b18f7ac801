/** One sale per variant, each with fresh web servers on the same machine and engine. */
import { aborted } from "./aborted.js";
import type { Engine } from "./engine.js";
import { startNginx } from "./front/nginx.js";
import { rush } from "./load/buyers.js";
import type { SaleOptions } from "./options.js";
import { resultOf, traceOf, type VariantResult, type VariantTrace } from "./result.js";
import { WebServers } from "./servers/web-servers.js";
import { openStore } from "./store/open.js";
import { type VariantName, variantOf } from "./variants.js";

export interface SaleWatcher {
  started(name: VariantName): void;
  progressed(answered: number, sold: number, left: number): void;
  ended(result: VariantResult): void;
}

export interface VariantOutcome {
  readonly result: VariantResult;
  readonly trace: VariantTrace;
}

export interface SaleContext {
  readonly options: SaleOptions;
  readonly engine: Engine;
  /** Null: the servers share one port. */
  readonly nginxProgram: string | null;
  readonly signal: AbortSignal;
}

interface Storefront {
  readonly url: string;
  readonly servers: WebServers;
  close(): Promise<void>;
}

/** Requests before the sale that count for nothing, so that no variant is measured on cold code. */
const WARM_UP_REQUESTS = 400;
/** The server dies when a quarter is sold: the run has found its pace, and has a long way to go. */
const LEFT_AT_KILL = 0.75;

export async function holdSale(context: SaleContext, watcher: SaleWatcher): Promise<VariantOutcome[]> {
  const outcomes: VariantOutcome[] = [];
  for (const name of context.options.variants) {
    watcher.started(name);
    const outcome = await sellBy(name, context, watcher);
    watcher.ended(outcome.result);
    outcomes.push(outcome);
  }
  return outcomes;
}

/** Opens web servers, and nginx before them if asked for. `onFailure` hears of a server that cannot work. */
async function openStorefront(
  variant: VariantName,
  { options, engine, nginxProgram, signal }: SaleContext,
  onFailure: (message: string) => void,
): Promise<Storefront> {
  const apart = nginxProgram !== null;
  const { prefix, url: redisUrl, lockServers } = engine;
  const port = apart ? 0 : (options.port ?? 0);
  const servers = new WebServers(
    {
      redisUrl,
      lockUrls: lockServers.urls,
      variant,
      prefix,
      ttlMs: options.ttlMs,
      port,
      apart,
      saleOn: null,
    },
    onFailure,
  );
  try {
    const serverPorts = await servers.start(options.servers, signal);
    const nginx = apart ? await startNginx({ program: nginxProgram, serverPorts }, options.port) : null;
    return {
      url: nginx?.url ?? `http://127.0.0.1:${serverPorts[0]}`,
      servers,
      close: async () => {
        await nginx?.stop();
        await servers.stop();
      },
    };
  } catch (error) {
    await servers.stop();
    throw error;
  }
}

async function sellBy(
  name: VariantName,
  context: SaleContext,
  watcher: SaleWatcher,
): Promise<VariantOutcome> {
  const failure = new AbortController();
  const signal = AbortSignal.any([context.signal, failure.signal]);
  const front = await openStorefront(name, context, (message) => failure.abort(new Error(message)));
  try {
    signal.throwIfAborted();
    await warmUp(name, front, context, signal);
    return await measure(name, front, context, signal, watcher);
  } catch (error) {
    // What a server said is nearer to the cause than what broke here because of it.
    throw signal.aborted ? signal.reason : error;
  } finally {
    await front.close();
  }
}

async function warmUp(
  name: VariantName,
  front: Storefront,
  context: SaleContext,
  signal: AbortSignal,
): Promise<void> {
  const requests = Math.min(WARM_UP_REQUESTS, context.options.requests);
  const concurrency = Math.min(context.options.concurrency, requests);
  await withStock(name, "warm-up", Math.ceil(requests / 2), context, async () => {
    await front.servers.open("warm-up", null);
    await rush({ url: `${front.url}/WebStore`, requests, concurrency, signal });
    await front.servers.close();
  });
}

async function measure(
  name: VariantName,
  front: Storefront,
  context: SaleContext,
  signal: AbortSignal,
  watcher: SaleWatcher,
): Promise<VariantOutcome> {
  const { stock, requests, concurrency, kill } = context.options;
  const dieAtLeft = kill && variantOf(name).locked ? Math.floor(stock * LEFT_AT_KILL) : null;
  return withStock(name, "sale", stock, context, async (left) => {
    await front.servers.open("sale", dieAtLeft);
    const onProgress = watcher.progressed.bind(watcher);
    const rushed = await rush({ url: `${front.url}/WebStore`, requests, concurrency, signal, onProgress });
    const tallies = await front.servers.close();
    const { killedPids } = front.servers;
    const leftAtEnd = await left();
    const facts = { name, stock, requests, rush: rushed, tallies, killedPids, leftAtEnd };
    return { result: resultOf(facts), trace: traceOf(facts) };
  });
}

/** Lays in the stock, does the work, and gives back whatever the shopkeeper's side holds. */
async function withStock<T>(
  variant: VariantName,
  stockName: string,
  units: number,
  { engine, options }: SaleContext,
  work: (left: () => Promise<number>) => Promise<T>,
): Promise<T> {
  const { redis, prefix, lockServers } = engine;
  const lockClients = lockServers.clients;
  const store = await openStore(variant, { redis, lockClients, prefix, stockName, ttlMs: options.ttlMs });
  try {
    await store.stockUp(units);
    return await work(() => store.left());
  } finally {
    await store.close();
  }
}

/** Keeps a stock for sale under a lock until the signal ends it. */
export async function keepOpen(context: SaleContext, opened: (url: string) => void): Promise<void> {
  const failure = new AbortController();
  const signal = AbortSignal.any([context.signal, failure.signal]);
  const variant = context.options.redlock ? "redlock" : "mutex";
  const front = await openStorefront(variant, context, (message) => failure.abort(new Error(message)));
  try {
    await withStock(variant, "open", context.options.stock, context, async () => {
      await front.servers.open("open", null);
      opened(`${front.url}/WebStore`);
      await aborted(signal);
    });
  } finally {
    await front.close();
  }
  if (failure.signal.aborted) throw failure.signal.reason;
}
