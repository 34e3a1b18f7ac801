/** Starts the whole application: stores, data, web servers, workers. Ends in the opposite order. */
import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { loadSeed } from "./data/load-seed.js";
import { migrate } from "./data/migrations.js";
import { passwordOf } from "./data/passwords.js";
import { type SeedBatch, seedData } from "./data/seed.js";
import { toldOf, Unavailable } from "./failure.js";
import type { Options } from "./options.js";
import type { Crew } from "./processes/crew.js";
import { webServers, workers } from "./processes/programs.js";
import type { Setup } from "./setup.js";
import { type OpenDormitory, openDormitory } from "./state/dormitory.js";
import { startPostgres, startRedis } from "./stores.js";

export interface StartOptions
  extends Pick<
    Options,
    | "servers"
    | "workers"
    | "redisUrl"
    | "postgresUrl"
    | "port"
    | "publicUrl"
    | "trustProxy"
    | "seed"
    | "students"
  > {
  /** `use`: until Ctrl-C. `load`: on data of its own, which is deleted in the end, and behind clients that name the address of a student. */
  readonly purpose: "use" | "load";
  readonly tell: (line: string) => void;
}

export interface Application {
  readonly url: string;
  /** The server that keeps the state: "Valkey 8.1.4, embedded". */
  readonly server: string;
  readonly dormitory: OpenDormitory;
  readonly data: readonly SeedBatch[];
  /** The data is that of an earlier start. */
  readonly isOld: boolean;
  /** All students of the seed. */
  readonly accounts: readonly Account[];
  /** Aborts with the reason when a program cannot work at all. */
  readonly failed: AbortSignal;
  /** Kills one with SIGKILL. Another one takes its place. @returns its process id; null: none runs */
  killWebServer(): number | null;
  killWorker(): number | null;
  stop(): Promise<void>;
}

export interface Account {
  readonly id: string;
  readonly number: string;
  readonly password: string;
  /** Of the student's team, the best first. */
  readonly wishes: readonly string[];
}

const BATCHES = 20;
const MINUTE_MS = 60_000;
const OPEN_MS = 120 * MINUTE_MS;
/** A load run opens its batches itself. */
const LOAD_STARTS_IN_MS = 60 * MINUTE_MS;
const USE_PREFIX = "dormitory";

/** What is to be ended, the newest first. */
class Undo {
  readonly #steps: (() => Promise<unknown>)[] = [];

  add(step: () => Promise<unknown>): void {
    this.#steps.unshift(step);
  }

  async run(): Promise<void> {
    for (const step of this.#steps.splice(0)) await step().catch(() => {});
  }
}

/** @throws {Unavailable} a store or the port is not available @throws the signal's reason */
export async function startApplication(options: StartOptions, signal: AbortSignal): Promise<Application> {
  const undo = new Undo();
  try {
    return await start(options, signal, undo);
  } catch (error) {
    await undo.run();
    throw error;
  }
}

async function start(options: StartOptions, signal: AbortSignal, undo: Undo): Promise<Application> {
  const failure = new AbortController();
  const onFailure = (message: string): void => failure.abort(new Error(message));
  const isLoad = options.purpose === "load";
  // Data of which one store would be gone after the run is of no use in the other one.
  const isTemporary = isLoad || options.redisUrl === null || options.postgresUrl === null;
  if (options.port !== 0) await requirePort(options.port);
  options.tell(options.redisUrl ? "connecting to Redis" : "starting Valkey");
  const prefix = isTemporary ? `${USE_PREFIX}-${randomBytes(4).toString("hex")}` : USE_PREFIX;
  const redis = await startRedis(options.redisUrl, onFailure);
  undo.add(() => redis.stop(isTemporary ? prefix : null));
  signal.throwIfAborted();
  options.tell(options.postgresUrl ? "connecting to PostgreSQL" : "starting PostgreSQL (PGlite)");
  const postgres = await startPostgres(options.postgresUrl, isTemporary, onFailure);
  undo.add(() => postgres.stop());
  signal.throwIfAborted();
  const dormitory = openDormitory({ redisUrl: redis.url, postgresUrl: postgres.url, prefix });
  undo.add(() => dormitory.close());
  options.tell(`making ${options.students.toLocaleString("en")} students and their wishes`);
  const data = dataOf(options);
  const isOld = await provide(dormitory, data, String(options.seed));
  signal.throwIfAborted();
  options.tell("starting web servers and workers");
  const secret = await secretOf(dormitory, prefix);
  const setup: Setup = {
    redisUrl: redis.url,
    postgresUrl: postgres.url,
    prefix,
    secret,
    port: options.port,
    trustProxy: isLoad || options.trustProxy,
    // The students of a load run come without a proxy.
    publicUrl: isLoad ? null : options.publicUrl,
  };
  const servers = webServers(setup, onFailure);
  const crew = workers(setup, onFailure);
  undo.add(() => Promise.all([servers.stop(), crew.stop()]));
  const port = await started(options, servers, crew);
  signal.throwIfAborted();
  return {
    url: `http://127.0.0.1:${port}`,
    server: redis.title,
    dormitory,
    data,
    isOld,
    accounts: accountsOf(data, String(options.seed)),
    failed: failure.signal,
    killWebServer: () => servers.kill(),
    killWorker: () => crew.kill(),
    stop: () => undo.run(),
  };
}

async function started(options: StartOptions, servers: Crew, crew: Crew): Promise<number> {
  const [port] = await Promise.all([servers.start(options.servers), crew.start(options.workers)]);
  return port ?? options.port;
}

function dataOf({ purpose, seed, students }: StartOptions): SeedBatch[] {
  const now = Date.now();
  return seedData({
    seed: String(seed),
    batches: BATCHES,
    studentsPerBatch: Math.ceil(students / BATCHES),
    startsAtMs: purpose === "load" ? now + LOAD_STARTS_IN_MS : now,
    apartMs: purpose === "load" ? 0 : MINUTE_MS,
    openMs: OPEN_MS,
  });
}

/** Whether there was data already. */
async function provide(dormitory: OpenDormitory, data: readonly SeedBatch[], seed: string): Promise<boolean> {
  await migrate(dormitory.db).catch((error) => {
    throw new Unavailable(`PostgreSQL refuses the tables: ${toldOf(error)}`);
  });
  const row = await dormitory.db.selectFrom("batches").select("id").limit(1).executeTakeFirst();
  const batches = await dormitory.batches.list();
  if (row !== undefined && batches.length === 0)
    throw new Unavailable(
      "PostgreSQL has batches and Redis has none: give both, or neither, from the earlier start",
    );
  if (row === undefined && batches.length > 0)
    throw new Unavailable(
      "Redis has batches and PostgreSQL has none: give both, or neither, from the earlier start",
    );
  if (row === undefined) await loadSeed(dormitory, data, seed);
  return row !== undefined;
}

/** The same for all starts on the same Redis, so that people stay signed in. */
async function secretOf({ redis }: OpenDormitory, prefix: string): Promise<string> {
  const key = `${prefix}:secret`;
  await redis.set(key, randomBytes(32).toString("base64url"), "NX");
  return (await redis.get(key)) ?? "";
}

function accountsOf(data: readonly SeedBatch[], seed: string): Account[] {
  return data.flatMap(({ teams }) =>
    teams.flatMap(({ members, wishes }) =>
      members.map((number) => ({ id: number, number, password: passwordOf(seed, number), wishes })),
    ),
  );
}

async function requirePort(port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", () =>
      reject(new Unavailable(`port ${port} is in use: give another one with --port`)),
    );
    server.listen(port, "127.0.0.1", () => server.close(() => resolve()));
  });
}
