/**
 * The application in virtual time: web servers and workers are processes of the lab's world, with the real client over its
 * network, and the real engine as their Redis. A crowd of students asks, faults strike, and in the end the data is judged.
 */
import { compileValkey } from "@holdfast/embedded";
import { World } from "@holdfast/lab";
import type { Answer } from "../src/check/answers.js";
import { lostAnswers } from "../src/check/answers.js";
import { readBatch } from "../src/check/read.js";
import { differencesIn } from "../src/check/rules.js";
import { loadState } from "../src/data/load-seed.js";
import { type SeedBatch, seedData } from "../src/data/seed.js";
import type { Way } from "../src/domain/batch.js";
import type { Action, Outcome, Ticket } from "../src/domain/selection.js";
import type { Student } from "../src/domain/student.js";
import { Unreachable } from "../src/domain/unreachable.js";
import { type OpenDormitory, openDormitory } from "../src/state/dormitory.js";
import { studentsOf } from "./fixture.js";

export const STUDENTS = 12;
export const WEB_SERVERS = 3;
const WORKERS = 2;
/** After the last request and the last fault all is decided within this time. */
const CALM_MS = 60_000;
const POLL_MS = 300;
const RETRY_MS = 700;
const LOADED_MS = 3_000;

/** One click. The numbers choose among what there is. */
export interface Click {
  readonly atMs: number;
  readonly student: number;
  readonly action: "grab" | "pick" | "regret";
  readonly room: number;
  readonly webServer: number;
}

/** What students do to their teams meanwhile. A move that meets an outage is not repeated. */
export interface Move {
  readonly atMs: number;
  readonly student: number;
  readonly action: "invite" | "accept" | "join" | "leave" | "wish";
  /** Whom to invite or to join, which invitation, or the dearest room. */
  readonly which: number;
  readonly webServer: number;
}

export type Fault =
  | { readonly kind: "kill web server" | "kill worker"; readonly atMs: number; readonly which: number }
  | {
      readonly kind: "pause worker" | "pause web server";
      readonly atMs: number;
      readonly which: number;
      readonly forMs: number;
    }
  | { readonly kind: "cut"; readonly atMs: number; readonly which: number }
  | { readonly kind: "lose answer"; readonly atMs: number; readonly which: number };

export interface Schedule {
  readonly seed: number;
  readonly way: Way;
  readonly clicks: readonly Click[];
  readonly moves: readonly Move[];
  readonly faults: readonly Fault[];
}

export interface Judged {
  readonly differences: readonly string[];
  /** Clicks that never had an outcome. */
  readonly unanswered: number;
  readonly answers: number;
  /** Moves that changed a team or its wishes. */
  readonly moved: number;
  readonly errors: readonly string[];
}

const engine = compileValkey();

type Member = ReturnType<World["process"]>;

/** A program that is started again when it is killed. */
class Program {
  process: Member;
  dormitory: OpenDormitory | null = null;
  #starts = 0;
  readonly #world: World;
  readonly #name: string;
  readonly #main: (dormitory: OpenDormitory) => void;

  constructor(world: World, name: string, main: (dormitory: OpenDormitory) => void) {
    this.#world = world;
    this.#name = name;
    this.#main = main;
    this.process = this.start();
  }

  start(): Member {
    this.#starts += 1;
    const process = this.#world.process(`${this.#name} ${this.#starts}`);
    this.process = process;
    process.run(() => {
      this.dormitory = openIn();
      this.#main(this.dormitory);
    });
    return process;
  }
}

/** ioredis tells the server about itself only after it has read a file, and files take real time. */
function openIn(): OpenDormitory {
  const redisUrl = "redis://valkey:6379/0?disableClientInfo=true";
  return openDormitory({ redisUrl, postgresUrl: "postgres://nobody:0/none", prefix: "world" });
}

export async function play(schedule: Schedule): Promise<Judged> {
  const world = new World({ seed: schedule.seed, module: await engine, realClients: true });
  return new Play(world, schedule).run();
}

class Play {
  readonly #world: World;
  readonly #schedule: Schedule;
  readonly #batch: SeedBatch;
  readonly #students: readonly Student[];
  readonly #answers: Answer[] = [];
  readonly #open = new Map<string, { readonly click: Click; webServer: number }>();
  #moved = 0;
  #webServers: Program[] = [];
  #workers: Program[] = [];

  constructor(world: World, schedule: Schedule) {
    this.#world = world;
    this.#schedule = schedule;
    const [batch] = seedData({
      seed: String(schedule.seed),
      batches: 1,
      studentsPerBatch: STUDENTS,
      startsAtMs: world.startMs,
      apartMs: 0,
      openMs: 3_600_000,
      way: schedule.way,
    });
    if (!batch) throw new Error("the seed made no batch");
    this.#batch = batch;
    this.#students = studentsOf(batch);
  }

  async run(): Promise<Judged> {
    const world = this.#world;
    world.node("valkey");
    const loader = world.process("loader");
    loader.run(() => loadState(openIn(), [this.#batch]));
    await world.run(LOADED_MS);
    this.#webServers = Array.from(
      { length: WEB_SERVERS },
      (_, at) => new Program(world, `web ${at}`, () => {}),
    );
    this.#workers = Array.from(
      { length: WORKERS },
      (_, at) => new Program(world, `worker ${at}`, (dormitory) => void dormitory.decideLanes(4)),
    );
    this.#schedule.clicks.forEach(
      (click, at) => void world.at(LOADED_MS + click.atMs, () => this.#click(click, at)),
    );
    for (const move of this.#schedule.moves) world.at(LOADED_MS + move.atMs, () => this.#move(move));
    for (const fault of this.#schedule.faults) world.at(LOADED_MS + fault.atMs, () => this.#strike(fault));
    const { clicks, moves, faults } = this.#schedule;
    const lastMs = Math.max(...[...clicks, ...moves, ...faults].map(({ atMs }) => atMs));
    await world.run(LOADED_MS + lastMs + CALM_MS);
    return this.#judge();
  }

  #click(click: Click, at: number): void {
    const requestId = `request-${at}`;
    this.#open.set(requestId, { click, webServer: click.webServer });
    this.#send(requestId, click.webServer);
  }

  #send(requestId: string, at: number): void {
    const webServer = this.#webServers[at % WEB_SERVERS];
    const open = this.#open.get(requestId);
    const student = this.#students[(open?.click.student ?? 0) % STUDENTS];
    if (!webServer || !open || !student) return;
    open.webServer = at % WEB_SERVERS;
    const { process } = webServer;
    process.run(async () => {
      const outcome = await this.#ask(webServer, student, open.click, requestId);
      this.#open.delete(requestId);
      if (outcome.state === "done")
        this.#answers.push({ studentId: student.id, places: outcome.places, atMs: outcome.atMs });
    });
  }

  /** As a browser does: sends the same form again until there is an answer, then asks for the ticket. */
  async #ask(
    { process, dormitory }: Program,
    student: Student,
    click: Click,
    requestId: string,
  ): Promise<Outcome> {
    if (!dormitory) throw new Error("the web server is not open");
    let answer: Ticket | Outcome | null = null;
    for (;;) {
      try {
        answer ??= await this.#choose(dormitory, student, click, requestId);
        if (answer.state !== "waiting") return answer;
        const view = await dormitory.selection.ticket(student);
        if (view?.outcome?.requestId === answer.requestId) return view.outcome;
        // A request of a mate was decided last, or the student has left the team that was answered: the page offers the form again, and
        // the same request brings its answer, or one for the new team.
        if (view?.state === "decided" || view?.state === "none") answer = null;
        await process.sleep(POLL_MS);
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        await process.sleep(RETRY_MS);
      }
    }
  }

  #choose(
    { selection }: OpenDormitory,
    student: Student,
    click: Click,
    id: string,
  ): Promise<Ticket | Outcome> {
    const { rooms } = this.#batch;
    const action: Action["kind"] = click.action;
    if (action === "regret") return selection.regret(student, id);
    const roomId = rooms[click.room % rooms.length]?.id ?? "";
    return action === "pick" ? selection.pick(student, roomId, id) : selection.grab(student, id);
  }

  #move(move: Move): void {
    const webServer = this.#webServers[move.webServer % WEB_SERVERS];
    const student = this.#students[move.student % STUDENTS];
    if (!webServer || !student) return;
    webServer.process.run(async () => {
      try {
        const result = webServer.dormitory && (await this.#change(webServer.dormitory, student, move));
        if (result?.ok) this.#moved += 1;
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
      }
    });
  }

  async #change(
    { teams }: OpenDormitory,
    student: Student,
    { action, which }: Move,
  ): Promise<{ readonly ok: boolean } | null> {
    if (action === "leave") return teams.leave(student);
    const other = this.#students[which % STUDENTS] as Student;
    if (action === "invite") return teams.invite(student, other.id);
    if (action === "join") {
      await teams.leave(student);
      await teams.invite(other, student.id);
    }
    const view = await teams.of(student);
    if (!view) return null;
    if (action === "wish") {
      const { rooms } = this.#batch;
      const dearest = rooms[which % rooms.length]?.id ?? "";
      const others = view.wishes.roomIds.filter((id) => id !== dearest).slice(0, 3);
      return teams.setWishes(student, [dearest, ...others], view.wishes.version);
    }
    const { received } = view;
    return received.length === 0 ? null : teams.accept(student, received[which % received.length]?.id ?? "");
  }

  #strike(fault: Fault): void {
    const isWorker = fault.kind.endsWith("worker");
    const programs = isWorker ? this.#workers : [...this.#webServers, ...this.#workers];
    const at =
      fault.which %
      (fault.kind === "kill web server" || fault.kind === "pause web server" ? WEB_SERVERS : programs.length);
    const program = programs[at];
    const valkey = this.#world.nodes.get("valkey");
    if (!program || !valkey) return;
    const { process } = program;
    if (fault.kind === "cut") this.#world.link(process, valkey).cut();
    else if (fault.kind === "lose answer") this.#world.link(process, valkey).loseNext("after");
    else if ("forMs" in fault) {
      process.pause();
      this.#world.at(this.#world.nowMs + fault.forMs, () => process.resume());
    } else {
      process.kill();
      this.#world.at(this.#world.nowMs + RETRY_MS, () => {
        program.start();
        // The browsers of its students meet another server, with the same form.
        if (!isWorker)
          for (const [requestId, { webServer }] of this.#open)
            if (webServer === at) this.#send(requestId, at + 1);
      });
    }
  }

  async #judge(): Promise<Judged> {
    const world = this.#world;
    const differences: string[] = [];
    let isRead = false;
    const judge = world.process("judge");
    judge.run(async () => {
      const facts = await readBatch(openIn(), this.#batch.id);
      const askers = new Set(
        [...this.#open.values()].map(({ click }) => this.#students[click.student % STUDENTS]?.id ?? ""),
      );
      for (const { kind, text } of [...differencesIn(facts), ...lostAnswers(facts, this.#answers, askers)])
        differences.push(`${kind}: ${text}`);
      isRead = true;
    });
    await world.run(world.nowMs + LOADED_MS);
    if (!isRead) differences.push("the data could not be read");
    const errors = world.errors.map(
      ({ error, process }) => `${process}: ${error instanceof Error ? error.stack : error}`,
    );
    return {
      differences,
      unanswered: this.#open.size,
      answers: this.#answers.length,
      moved: this.#moved,
      errors,
    };
  }
}
