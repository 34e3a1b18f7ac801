/**
 * A module of a program that makes something of every part and exports it, mostly without a word about its type. It is compiled with
 * declarations, under each way to resolve modules. Nothing here runs.
 */

import express from "express";
import fastify from "fastify";
import { ClosedError, Holdfast, type Lease, ServerError } from "holdfast";
import { FencedFile } from "holdfast/fencing/file";
import { fencedFetch, fencingHeaders, HttpFence, MemoryFences, RecordFences } from "holdfast/fencing/http";
import { FencedTable, HolderFence, TokenFence } from "holdfast/fencing/sql";
import { Locks } from "holdfast/locks";
import { parseLock } from "holdfast/locks/redis";
import { AddressList, ipKey, RequestLimiter } from "holdfast/middleware";
import { rateLimit as forExpress } from "holdfast/middleware/express";
import { rateLimit as forFastify } from "holdfast/middleware/fastify";
import { rateLimit as forFetch } from "holdfast/middleware/fetch";
import { rateLimit as forHono } from "holdfast/middleware/hono";
import { Redlock } from "holdfast/redlock";
import { Hono } from "hono";
import { Redis } from "ioredis";

export class Refused extends ServerError {}

export const redis = new Redis();
export const hf = new Holdfast(redis, { label: "every part" });
export const redlock = new Redlock(["redis://a", "redis://b", "redis://c"]);
export { Locks, parseLock };

export const mutex = hf.mutex("m", { ttl: "10s" });
export const acquired = () => mutex.acquire({ wait: 0 });
export const tried = async () => (await mutex.tryAcquire())?.fence;
export const ran = () => mutex.run(async (lease) => lease.fence);
export const semaphore = hf.semaphore("s", { permits: 3 });
export const rwLock = hf.rwLock("rw");
export const [reading, writing] = [rwLock.read(), rwLock.write()];
export const several = hf.multiLock([mutex, writing]);
export const all = () => several.acquire();
export const handed = async () => hf.adopt(await (await mutex.acquire()).handOver());

export const limit = hf.limit("api", { max: 1, per: "1m" });
export const taken = () => limit.take("me");
export const group = hf.limits.all([limit.of("me")]);
export const guard = hf.guard("login", { hits: 5, per: "1m", penalties: [{ kind: "busy", for: "15s" }] });
export const hit = () => guard.hit("me");

export const record = hf.record<{ readonly n: number }>("r");
export const got = () => record.get();
export const put = async (lease: Lease) => record.put({ n: 1 }, { fence: lease });
export const queue = hf.queue<string, number>("q");
export const consumer = queue.consume(async ({ body }) => body.length);
export const received = () => queue.receive();
export const lanes = hf.lanes<string>("l");
export const watched = () => lanes.watch("1");
export const signal = hf.signal<string>("s");
export const heard = () => hf.signals.any<string>(["s"]);
export const event = hf.event("e");
export const latch = hf.latch("l", 3);
export const barrier = hf.barrier("b", 3);
export const election = hf.election("e", { value: "here" });
export const elected = () => election.campaign();
export const done = () => hf.once("key", async () => 5, { keep: "1d" });
export const inspected = async () => (await hf.inspector()).lock("m");
export const doctor = () => hf.doctor();

export const accounts = new FencedTable<{ id: number; balance: number }>(
  new TokenFence({ dialect: "postgres", table: "account" }),
  async () => ({ rowCount: 1, rows: [] }),
);
export const balanceOf = (lease: Lease) => accounts.enter({ id: 13 }, lease, ["balance"]);
export const fences = [
  new HolderFence({ dialect: "mysql", table: "t" }),
  new MemoryFences(),
  new FencedFile("/f"),
];
export const httpFence = new HttpFence({ store: new RecordFences(hf.records), resource: ({ url }) => url });
export const fenced = async () => fencedFetch(await mutex.acquire());
export const headers = async () => fencingHeaders(await mutex.acquire());

export const limitExpress = forExpress(hf, { limits: limit, key: (request) => request.ip });
export const limitFastify = forFastify(hf, { limits: limit, key: (request) => request.ip });
export const limitHono = forHono(hf, { limits: limit, key: (context) => context.req.header("user") });
export const limitFetch = forFetch(hf, { limits: limit, key: (request) => request.headers.get("user") });
export const handler = limitFetch(async () => new Response("hello"));
export const shell = new RequestLimiter<Request>(hf, { guard });
export const keys = [ipKey("192.0.2.1"), new AddressList(["192.0.2.0/24"])];

express().use(limitExpress);
void fastify().addHook("onRequest", limitFastify);
new Hono().use(limitHono);

export function explain(thrown: unknown): string {
  return thrown instanceof ClosedError ? (thrown.code satisfies "CLOSED") : String(thrown);
}
