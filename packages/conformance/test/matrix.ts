/**
 * The cases over real servers and client libraries, in pairs: every case with every client, every client on every server, and every case on
 * every server. The product of the three would find no more, and take four times as long. Whoever adds a server adds a row to `setups`.
 *
 * `npm test` takes some of them once (`runSome`), `npm run test:matrix` all pairs (`runPairs`), in a file for each library, and
 * `npm run soak` the product.
 */
import { readFileSync } from "node:fs";
import {
  type Case,
  type LabClients,
  mutexCases,
  needing,
  nounCases,
  type ProgramName,
  program,
  RedisLab,
} from "@holdfast/conformance";
import { afterAll, beforeAll, describe } from "vitest";
import { everyClient } from "./clients.ts";
import { declareCases } from "./declare.ts";
import { type Setup, startEmbedded, startServer, type TestServer } from "./servers.ts";

/** The user that the guide recommends, and nothing more. */
function guidedUser(): string {
  const guide = readFileSync(new URL("../../../docs/guides/redis.md", import.meta.url), "utf8");
  return /^user (\S+ on .*)$/m.exec(guide)?.[1] ?? "";
}

const redis: Setup = { title: "redis-server", program: "redis-server" };
const valkey: Setup = { title: "valkey-server", program: "valkey-server" };
const overTls = (setup: Setup): Setup => ({
  ...setup,
  title: `${setup.title} over TLS`,
  isEncrypted: true,
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

const isProduct = process.env.HOLDFAST_TEST_PRODUCT === "1";

type ServerKind = "embedded" | keyof typeof setups;
type RedisCase = Case<RedisLab>;

export const kinds: readonly ServerKind[] = ["embedded", ...(Object.keys(setups) as (keyof typeof setups)[])];
/** The ways to each program: a case that waits takes one of them. */
const programs: readonly (readonly ServerKind[])[] = ["redis-server", "valkey-server"].map((program) =>
  kinds.filter((kind) => kind.startsWith(program)),
);
export const cases: readonly RedisCase[] = [...mutexCases, ...nounCases];
/** For those that wait, a run on each program is enough: all of them run in virtual time as well. */
const waiting = cases.filter(({ waits }) => waits);
const quick = cases.filter(({ waits }) => !waits);

function needsOf({ program: server, isEncrypted }: Setup): ProgramName[] {
  return isEncrypted ? [server, "openssl"] : [server];
}

/** The kind at this place, or the next one that the case can have: no proxy reads TLS. */
function kindFor({ needs }: RedisCase, place: number, among: readonly ServerKind[]): ServerKind {
  const possible = (kind: ServerKind): boolean => !(kind.endsWith("TLS") && needs.includes("proxy"));
  const from = Array.from(
    { length: among.length },
    (_, at) => among[(place + at) % among.length] as ServerKind,
  );
  return from.find(possible) as ServerKind;
}

/** What this client, by its place among so many, has to run on this server. */
export function pairsOf(client: number, clients: number, kind: ServerKind): RedisCase[] {
  const ofWaiting = (each: RedisCase, at: number): boolean =>
    programs.some(
      (among, place) =>
        (programs.length * at + place) % clients === client && kindFor(each, at, among) === kind,
    );
  return [
    ...quick.filter((each, at) => kindFor(each, at + client, kinds) === kind),
    ...waiting.filter(ofWaiting),
  ];
}

/** Every case that can have this server. */
function productOf(kind: ServerKind): RedisCase[] {
  return cases.filter((each) => kindFor(each, 0, [kind]) === kind);
}

/** All pairs of the clients whose titles begin so, or all that there are. */
export function runPairs(library: string): void {
  const clients = everyClient();
  for (const [place, client] of clients.entries()) {
    if (!client.title.startsWith(library)) continue;
    for (const kind of kinds)
      runCases(kind, client, isProduct ? productOf(kind) : pairsOf(place, clients.length, kind));
  }
}

/**
 * Each third case that waits for nothing, with clients and servers in turn: `npm test` has all cases in virtual time. Where a server
 * is not installed, the embedded one stands in.
 */
export function runSome(): void {
  const clients = everyClient();
  const some = quick.filter((_, at) => at % 3 === 0);
  for (const [place, client] of clients.entries()) {
    const share = some.filter((_, at) => at % clients.length === place);
    const kind = kinds[place % kinds.length] as ServerKind;
    const isHere = kind === "embedded" || needsOf(setups[kind]).every((each) => program(each) !== "");
    const isFor = (each: RedisCase): boolean => isHere && kindFor(each, place, kinds) === kind;
    runCases(kind, client, share.filter(isFor));
    runCases(
      "embedded",
      client,
      share.filter((each) => !isFor(each)),
    );
  }
}

function runCases(kind: ServerKind, clients: LabClients, some: readonly RedisCase[]): void {
  if (some.length === 0) return;
  const needs = kind === "embedded" ? [] : needsOf(setups[kind]);
  needing(describe, ...needs)(`${kind}, ${clients.title}`, () => {
    let server: TestServer;

    beforeAll(async () => {
      server = await (kind === "embedded" ? startEmbedded() : startServer(setups[kind]));
    });

    afterAll(() => server?.stop());

    declareCases(some, () => new RedisLab(server, clients));
  });
}
