/** Runs cases as tests, over one server and one client library. */
import { accessSync } from "node:fs";
import { type LabClients, type LockCase, RedisLab, runCase, whyNot } from "@holdfast/conformance";
import { afterAll, beforeAll, describe, it } from "vitest";
import { startEmbedded, startRedisServer, type TestServer } from "./servers.ts";

export type ServerKind = "embedded" | "redis-server";

/** Set by the test command; empty means that there is none. */
function redisServerProgram(): string {
  const { HOLDFAST_REDIS_SERVER } = process.env;
  if (HOLDFAST_REDIS_SERVER !== undefined) return HOLDFAST_REDIS_SERVER;
  const usual = "/usr/bin/redis-server";
  try {
    accessSync(usual);
    return usual;
  } catch {
    return "";
  }
}

export function runCases(kind: ServerKind, clients: LabClients, cases: readonly LockCase[]): void {
  const program = redisServerProgram();
  const missing = kind === "redis-server" && program === "" ? " (skipped: no redis-server here)" : "";
  describe.skipIf(missing !== "")(`${kind}, ${clients.title}${missing}`, () => {
    let server: TestServer;

    beforeAll(async () => {
      server = await (kind === "embedded" ? startEmbedded() : startRedisServer(program));
    });

    afterAll(() => server?.stop());

    for (const lockCase of cases) {
      it(lockCase.name, async ({ skip }) => {
        const lab = new RedisLab(server, clients);
        const reason = whyNot(lockCase, lab.lacks);
        if (reason !== null) {
          await lab.close();
          skip(reason);
        }
        await runCase(lockCase, lab);
      });
    }
  });
}
