/** The same small application on every framework, over real HTTP. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { type HttpBindings, serve } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import type { HasLimits, RateLimitOptions } from "holdfast/middleware";
import { rateLimit as forExpress } from "holdfast/middleware/express";
import { rateLimit as forFastify } from "holdfast/middleware/fastify";
import { rateLimit as forFetch } from "holdfast/middleware/fetch";
import { rateLimit as forHono } from "holdfast/middleware/hono";
import { Hono } from "hono";

export interface Running {
  readonly url: string;
  /** How often a handler was reached. */
  readonly handled: () => number;
  /** How many requests have come. */
  readonly begun: () => number;
  /** How many requests came as far as the middlewares under test. */
  readonly entered: () => number;
  /** Lets `/slow` answer. */
  readonly release: () => void;
  stop(): Promise<void>;
}

/** A status, and whether to throw instead, for each path; all frameworks behave alike. */
class Routes {
  handled = 0;
  begun = 0;
  entered = 0;
  #release: () => void = () => {};
  readonly #released = new Promise<void>((resolve) => {
    this.#release = resolve;
  });

  /** Stands before the middlewares under test, as a session store does: `/late` waits until the client has hung up. */
  async enter(path: string, socket: { readonly destroyed: boolean }): Promise<void> {
    this.begun += 1;
    while (path === "/late" && !socket.destroyed) await new Promise((resolve) => setTimeout(resolve, 1));
    this.entered += 1;
  }

  async answer(path: string): Promise<{ status: number; body: string }> {
    this.handled += 1;
    if (path === "/throw") throw new Error("the handler failed");
    if (path === "/slow") await this.#released;
    const status = Number(/^\/status\/(\d+)$/.exec(path)?.[1] ?? 200);
    return { status, body: `answered ${path}` };
  }

  release(): void {
    this.#release();
  }
}

/** What the options' functions are given differs; these take no notice of it. */
export type AnyOptions = RateLimitOptions<unknown>;
export type Start = (hf: HasLimits, ...stack: AnyOptions[]) => Promise<Running>;

async function listening(server: Server, routes: Routes, close?: () => Promise<unknown>): Promise<Running> {
  if (!server.listening) await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    handled: () => routes.handled,
    begun: () => routes.begun,
    entered: () => routes.entered,
    release: () => routes.release(),
    async stop() {
      server.closeAllConnections();
      if (close) return void (await close());
      server.close();
      await once(server, "close");
    },
  };
}

const onExpress: Start = (hf, ...stack) => {
  const [app, routes] = [express(), new Routes()];
  app.set("env", "test"); // which logs no errors
  app.use(async (request, _, next) => {
    await routes.enter(request.path, request.socket);
    next();
  });
  for (const options of stack) app.use(forExpress(hf, options));
  app.use(async (request, response) => {
    const { status, body } = await routes.answer(request.path);
    response.status(status).type("text/plain").send(body);
  });
  return listening(app.listen(0, "127.0.0.1"), routes);
};

const onFastify: Start = async (hf, ...stack) => {
  const [app, routes] = [fastify(), new Routes()];
  app.addHook("onRequest", (request) => routes.enter(request.url, request.raw.socket));
  for (const options of stack) app.addHook("onRequest", forFastify(hf, options));
  app.all("/*", async (request, reply) => {
    const { status, body } = await routes.answer(request.url);
    return reply.code(status).type("text/plain").send(body);
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  return listening(app.server, routes, () => app.close());
};

const onHono: Start = (hf, ...stack) => {
  const [app, routes] = [new Hono<{ Bindings: HttpBindings }>(), new Routes()];
  app.use(async (context, next) => {
    await routes.enter(context.req.path, context.env.incoming.socket);
    await next();
  });
  for (const options of stack) app.use(forHono(hf, options));
  app.onError((error, context) => context.text(error.message, 500));
  app.all("*", async (context) => {
    const { status, body } = await routes.answer(context.req.path);
    return new Response(body, { status, headers: { "content-type": "text/plain" } });
  });
  const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
  return listening(server as Server, routes);
};

/** A plain server that hands over Requests, as Deno and Bun do. */
const onFetch: Start = (hf, ...stack) => {
  const routes = new Routes();
  const address = (_: Request, from: string | undefined) => from;
  const handler = stack.reduceRight<(request: Request, from: string | undefined) => Promise<Response>>(
    (inner, options) => forFetch<[string | undefined]>(hf, { ...options, address })(inner),
    async (request) => {
      const { status, body } = await routes.answer(new URL(request.url).pathname);
      return new Response(body, { status, headers: { "content-type": "text/plain" } });
    },
  );
  const server = createServer(async (incoming, outgoing) => {
    const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [
      name,
      `${value}`,
    ]);
    const { method = "GET", url = "/" } = incoming;
    const request = new Request(new URL(url, "http://server"), { method, headers });
    await routes.enter(url, incoming.socket);
    const response = await handler(request, incoming.socket.remoteAddress).catch(
      (error: Error) => new Response(error.message, { status: 500 }),
    );
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body) Readable.fromWeb(response.body as never).pipe(outgoing);
    else outgoing.end();
  });
  return listening(server.listen(0, "127.0.0.1"), routes);
};

export const frameworks: readonly (readonly [name: string, start: Start])[] = [
  ["Express", onExpress],
  ["Fastify", onFastify],
  ["Hono", onHono],
  ["fetch", onFetch],
];
