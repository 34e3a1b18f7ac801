/**
 * The suites of the mutex and of the nouns, over servers and client libraries. `npm test` takes each client on one server and one client on
 * every server, and of a noun each case with one of the clients and on one of the servers. `npm run test:matrix` takes every client on every
 * server, in a file for each program of a server; over TLS and as a limited user, it takes each case of a noun with one client.
 */
import { readFileSync } from "node:fs";
import {
  type Case,
  type LabClients,
  type LockCase,
  mutexCases,
  mutexThemes,
  type NounCase,
  nounCases,
  RedisLab,
  runCase,
  whyNot,
} from "@holdfast/conformance";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type Setup, startEmbedded, startServer, type TestServer } from "./servers.ts";

/** Paths of programs, set by the test command; empty means that there is none. */
const { HOLDFAST_REDIS_SERVER = "", HOLDFAST_VALKEY_SERVER = "", HOLDFAST_OPENSSL = "" } = process.env;

/** The user that the guide recommends, and nothing more. */
function guidedUser(): string {
  const guide = readFileSync(new URL("../../../docs/guides/redis.md", import.meta.url), "utf8");
  return /^user (\S+ on .*)$/m.exec(guide)?.[1] ?? "";
}

const redis: Setup = { title: "redis-server", program: HOLDFAST_REDIS_SERVER };
const valkey: Setup = { title: "valkey-server", program: HOLDFAST_VALKEY_SERVER };
const overTls = (setup: Setup): Setup => ({
  ...setup,
  title: `${setup.title} over TLS`,
  openssl: HOLDFAST_OPENSSL,
});
const limited = (setup: Setup): Setup => ({
  ...setup,
  title: `${setup.title} as a limited user`,
  acl: guidedUser(),
});

const setups = {
  "redis-server": redis,
  "redis-server, TLS": overTls(redis),
  "redis-server, ACL": limited(redis),
  "valkey-server": valkey,
  "valkey-server, TLS": overTls(valkey),
  "valkey-server, ACL": limited(valkey),
};

export type ServerKind = "embedded" | keyof typeof setups;

function lacking(setup: Setup): string {
  if (setup.program === "") return ` (skipped: no ${setup.title.split(" ", 1)} here)`;
  return setup.openssl === "" ? " (skipped: no openssl here)" : "";
}

/** The themes that between them run every script and every way to be woken, and read replies and messages of every shape. */
const {
  exclusion,
  tokens,
  waiting,
  handover,
  turns,
  mixed,
  renewal,
  batches,
  release,
  fencing,
  restart,
  telling,
} = mutexThemes;
export const everyShape: readonly LockCase[] = [
  ...[...exclusion, ...tokens, ...waiting, ...handover, ...turns, ...mixed],
  ...[...renewal, ...batches, ...release, ...fencing, ...restart, ...telling],
];

/** Through TLS a proxy cannot read, so the themes that need one are left out. */
const readable = [...exclusion, ...tokens, ...mutexThemes.processes, ...restart, ...telling];

/** The cases of the mutex for each pair of a server and a client library. */
export function runMatrix(
  kinds: readonly ServerKind[],
  clients: readonly LabClients[],
  cases: readonly LockCase[] = mutexCases,
): void {
  const casesFor = (kind: ServerKind) => (kind.endsWith("TLS") ? readable : cases);
  for (const kind of kinds) for (const each of clients) runCases(kind, each, casesFor(kind));
}

/** Those that show whether commands, replies and messages of every shape go through: what a fault does is the same for all. */
export const withoutFaults: readonly NounCase[] = nounCases.filter(({ needs }) => needs.length === 0);

export const withFaults: readonly NounCase[] = nounCases.filter(({ needs }) => needs.length > 0);

/** Of each `of` cases the one at `place`: a part of a quick run. */
export function oneIn<Each>(of: number, place: number, cases: readonly Each[]): readonly Each[] {
  return cases.filter((_, at) => at % of === place);
}

/** The cases of the nouns for each pair of a server and a client library. */
export function runNouns(
  kinds: readonly ServerKind[],
  clients: readonly LabClients[],
  cases: readonly NounCase[] = nounCases,
): void {
  for (const kind of kinds) {
    const possible = cases.filter(({ needs }) => !(kind.endsWith("TLS") && needs.includes("proxy")));
    for (const each of clients) runCases(kind, each, possible);
  }
}

/**
 * The cases of the nouns with every client. Over TLS and as a limited user, each case runs with one client and each client with some cases:
 * what a user may do depends on the script, and the way through TLS on the client.
 */
export function runNounsOn(server: "redis-server" | "valkey-server", clients: readonly LabClients[]): void {
  runNouns([server], clients);
  for (const [place, client] of clients.entries())
    runNouns([`${server}, TLS`, `${server}, ACL`], [client], oneIn(clients.length, place, nounCases));
}

function runCases(kind: ServerKind, clients: LabClients, cases: readonly Case<RedisLab>[]): void {
  const missing = kind === "embedded" ? "" : lacking(setups[kind]);
  describe.skipIf(missing !== "")(`${kind}, ${clients.title}${missing}`, () => {
    let server: TestServer;

    beforeAll(async () => {
      server = await (kind === "embedded" ? startEmbedded() : startServer(setups[kind]));
    });

    afterAll(() => server?.stop());

    for (const each of cases) {
      it(each.name, async ({ skip }) => {
        const lab = new RedisLab(server, clients);
        const reason = whyNot(each, lab.lacks);
        if (reason !== null) {
          await lab.close();
          skip(reason);
        }
        await runCase(each, lab);
      });
    }
  });
}
