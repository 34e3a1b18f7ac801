/**
 * What functions are given is the framework's own request, without a word of it: compiled against the installed
 * frameworks. Nothing here is sent a request.
 */
import { createServer, type IncomingMessage } from "node:http";
import express, { type Request } from "express";
import fastify, { type FastifyRequest } from "fastify";
import { Holdfast } from "holdfast";
import { rateLimit as forExpress } from "holdfast/middleware/express";
import { rateLimit as forFastify } from "holdfast/middleware/fastify";
import { rateLimit as forHono } from "holdfast/middleware/hono";
import { Hono } from "hono";
import { afterAll, describe, expectTypeOf, test } from "vitest";

const hf = new Holdfast("redis://127.0.0.1:1"); // never asked
const limits = hf.limit("api", { max: 1, per: "1m" });
const guard = hf.guard("api", { hits: 1, per: "1m", penalties: [{ kind: "busy", for: "1m" }] });
afterAll(() => hf.close());

interface Login {
  readonly user: string;
}

describe("Express", () => {
  const app = express();

  test("in app.use, app.get and app.post", () => {
    app.use(
      forExpress(hf, {
        limits: { limit: limits, key: (request) => request.ip },
        skip: (request) => request.path === "/health",
      }),
    );
    app.get(
      "/of/:id",
      forExpress(hf, {
        limits,
        key: (request) => {
          expectTypeOf(request).toEqualTypeOf<Request>();
          return `${request.params.id}`;
        },
      }),
      (request, response) => void response.send(request.params.id),
    );
    app.post(
      "/login",
      express.json(),
      forExpress(hf, {
        limits: { limit: limits, key: (request) => request.body.user },
        guard: { guard, route: (request) => request.path },
        count: ({ status, request }) => status === 401 && request.secure,
        // @ts-expect-error: it is the framework's own, not any
        skip: (request) => request.nothing,
      }),
      (_, response) => void response.send("in"),
    );
  });

  test("a request that is said", () => {
    const key = (request: Request<{ id: string }>) => request.params.id;
    app.get("/:id", forExpress(hf, { limits, key }), (request, response) => {
      expectTypeOf(request.params.id).toEqualTypeOf<string>();
      response.end();
    });
  });

  test("Node's own server", () => {
    const [plain, byUrl] = [
      forExpress(hf, { limits }),
      forExpress(hf, { limits, key: (request: IncomingMessage) => request.url }),
    ];
    createServer((request, response) =>
      plain(request, response, () => byUrl(request, response, () => response.end())),
    );
  });
});

describe("Fastify", () => {
  test("in addHook and as a hook of a route", () => {
    const app = fastify();
    app.addHook(
      "onRequest",
      forFastify(hf, {
        limits: { limit: limits, key: (request) => request.ip },
        skip: (request) => request.url === "/health",
      }),
    );
    app.post(
      "/login",
      {
        onRequest: forFastify(hf, { limits, count: ({ status }) => status === 401 }),
        preHandler: [
          forFastify(hf, {
            limits,
            key: (request) => {
              expectTypeOf(request.body).toEqualTypeOf<unknown>();
              return (request.body as Login).user;
            },
            guard: { guard, route: (request) => request.routeOptions.url ?? "" },
            // @ts-expect-error: it is the framework's own, not any
            skip: (request) => request.nothing,
          }),
        ],
      },
      async () => "in",
    );
    app.route({
      method: "GET",
      url: "/",
      preHandler: forFastify(hf, { limits, count: ({ status, request }) => status === 401 && request.is404 }),
      handler: async () => "in",
    });
  });

  test("the body of a typed route", () => {
    const app = fastify();
    const preHandler = forFastify(hf, {
      limits,
      key: (request: FastifyRequest<{ Body: Login }>) => request.body.user,
    });
    app.post<{ Body: Login }>("/said", { preHandler }, async () => "in");
    app.post<{ Body: Login }>(
      "/known",
      { preHandler: forFastify(hf, { limits, key: (request) => request.body.user }) },
      async () => "in",
    );
  });

  test("one hook for many routes, and for HTTP/2", () => {
    const hook = forFastify(hf, { limits, key: (request) => request.ip });
    fastify()
      .addHook("preHandler", hook)
      .post<{ Body: Login }>("/", { preHandler: hook }, async () => "in");
    fastify({ http2: true })
      .addHook("onRequest", hook)
      .get("/", { onRequest: hook }, async () => "in");
  });
});

test("Hono: what a path and earlier middleware say stays known", () => {
  const app = new Hono<{ Variables: { user: string } }>();
  app.use(forHono(hf, { limits, key: (context) => context.req.header("user") }));
  app.post(
    "/:id",
    forHono(hf, {
      limits,
      key: (context) => context.get("user"),
      count: ({ status, request }) => status === 401 && request.req.path === "/",
      // @ts-expect-error: it is the framework's own, not any
      skip: (context) => context.nothing,
    }),
    (context) => {
      expectTypeOf(context.req.param("id")).toEqualTypeOf<string>();
      return context.text(context.get("user"));
    },
  );
});
