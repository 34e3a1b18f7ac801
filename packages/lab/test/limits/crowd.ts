/** A crowd of processes that take from one limit, with clocks that differ, under faults, in virtual time. */

import type { Limit, LimitOptions } from "holdfast";
import { diceFor } from "../../src/chance/dice.js";
import type { Operation } from "../../src/history/operation.js";
import { Recorder } from "../../src/history/recorder.ts";
import { holdfastOn } from "../../src/sim/holdfast-on.js";
import type { Process } from "../../src/sim/process.js";
import { World } from "../../src/sim/world.js";

export interface Plan {
  readonly seed: number;
  readonly options: LimitOptions;
  readonly processes: number;
  readonly forMs: number;
  readonly faults: boolean;
  /** How long a process waits between its charges, on average. */
  readonly gapMs: number;
}

export interface Run {
  readonly world: World;
  readonly operations: Operation[];
  readonly admitted: number;
  readonly refused: number;
  readonly sources: Record<string, number>;
  /** Commands that ran on the server. */
  readonly commands: number;
}

export const KEY = "limit";

export async function run(plan: Plan): Promise<Run> {
  const { seed, options, forMs } = plan;
  const world = await World.create({ seed });
  const node = world.node("redis");
  const found = new Map<string, Operation>();
  const tally = { admitted: 0, refused: 0, sources: {} as Record<string, number> };
  const take = (operation: Operation): void =>
    void found.set(`${operation.process} ${operation.seq}`, operation);
  for (let place = 0; place < plan.processes; place++) {
    const dice = diceFor(seed, `clock ${place}`);
    const process = world.process(`p${place}`, {
      rate: dice.between(0.995, 1.005),
      wallOffsetMs: dice.between(-1e7, 1e7),
    });
    const link = world.link(process, node);
    const recorder = new Recorder(process.name, () => process.nowMs, take);
    process.run(async () => {
      const limit = holdfastOn(link, { callTimeout: 300 }).limit("n", options);
      for (let callers = 0; callers < 3; callers++) void visit(process, limit, recorder, plan, tally);
    });
    if (plan.faults) trouble(world, process, forMs);
  }
  if (plan.faults) setClock(world, options, forMs);
  await world.run(forMs);
  const info = String(node.peek("INFO", "commandstats"));
  const commands = Number(/cmdstat_evalsha:calls=(\d+)/.exec(info)?.[1] ?? 0);
  return { world, operations: [...found.values()], commands, ...tally };
}

async function visit(
  process: Process,
  limit: Limit,
  recorder: Recorder,
  { options, gapMs }: Plan,
  tally: { admitted: number; refused: number; sources: Record<string, number> },
): Promise<void> {
  const { dice } = process;
  for (;;) {
    await process.sleep(dice.gapMs(gapMs));
    const cost = dice.pick([1, 1, 1, 2, 3]);
    const isReserved = options.block === undefined && dice.chance(0.15);
    const pending = recorder.begin("take", KEY, { value: cost });
    try {
      if (!isReserved) {
        const result = await limit.take("t", cost);
        tally.sources[result.source] = (tally.sources[result.source] ?? 0) + 1;
        if (result.ok) pending.ok();
        else pending.fail("refused");
        tally[result.ok ? "admitted" : "refused"] += result.ok ? cost : 1;
        continue;
      }
      const reservation = await limit.reserve("t", cost);
      if (!reservation.ok) {
        pending.fail("refused");
        continue;
      }
      const actual = dice.whole(0, cost);
      pending.ok({ value: actual });
      tally.admitted += actual;
      await process.sleep(dice.between(0, 300));
      await reservation.settle(actual).catch(() => {});
    } catch (error) {
      pending.info(String(error));
    }
  }
}

/** Connections that break, answers that are lost, a process that stands still or is busy. */
function trouble(world: World, process: Process, forMs: number): void {
  const dice = diceFor(world.seed, `trouble of ${process.name}`);
  const [link] = world.links.filter((one) => one.process === process);
  for (let atMs = dice.gapMs(900); atMs < forMs; atMs += dice.gapMs(900)) {
    const faults: (() => void)[] = [
      () => link?.cut(),
      () => link?.loseNext("after"),
      () => link?.loseNext("before"),
      () => process.stallAtRead(dice.whole(1, 4), dice.between(1, 700)),
      () => {
        process.pause(dice.chance(0.5) ? "stop" : "suspend");
        world.at(world.nowMs + dice.between(1, 800), () => process.resume());
      },
      () => process.stepWall(dice.between(-5_000, 5_000)),
      () => {
        link?.block("toProcess");
        world.at(world.nowMs + dice.between(1, 500), () => link?.unblock("toProcess"));
      },
    ];
    world.at(atMs, dice.pick(faults));
  }
}

/** The server's clock is set back, by less or by more than the limit's time; and it stands still. */
function setClock(world: World, { per }: LimitOptions, forMs: number): void {
  const dice = diceFor(world.seed, "clock of the node");
  const node = world.nodes.get("redis");
  const long = Number(per ?? 1_000);
  for (let atMs = dice.gapMs(5_000); atMs < forMs; atMs += dice.gapMs(5_000)) {
    const backMs = dice.pick([1, long * 0.3, long * 0.9, long * 4]);
    const pauseMs = dice.between(1, 400);
    const isPause = dice.chance(0.4);
    world.at(atMs, () => {
      if (!isPause) {
        node?.valkey.clock.step(-backMs);
        return;
      }
      node?.pause();
      world.at(world.nowMs + pauseMs, () => node?.resume());
    });
  }
}
