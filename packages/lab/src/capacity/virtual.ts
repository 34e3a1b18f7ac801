/** A load in virtual time: the unchanged library in a world of many processes, over the real engine. */
import { Holdfast } from "holdfast";
import type { Node } from "../sim/node.js";
import type { Process } from "../sim/process.js";
import { SimClient } from "../sim/sim-client.js";
import { World } from "../sim/world.js";
import type { Load, Member, Row, Scale, Step } from "./load.js";

/** A phase that takes longer than this hangs. */
const longestMs = 86_400_000;

interface Player {
  readonly process: Process;
  requests: number;
  scripts: number;
  steps: Readonly<Record<string, Step>> | null;
}

/** The cost of each counted phase. The same rows each time, on every machine. */
export async function playVirtually(load: Load, processes: number, scale: Scale): Promise<Row[]> {
  const world = await World.create({ seed: 1 });
  const node = world.node("redis");
  const players = Array.from({ length: processes + load.helpers }, (_, place): Player => {
    return { process: world.process(`p${place}`), requests: 0, scripts: 0, steps: null };
  });
  const requests = () => players.slice(0, processes).reduce((sum, player) => sum + player.requests, 0);
  const rows: Row[] = [];
  for (const { name, counted } of load.phases) {
    const [sinceMs, before, sent] = [world.nowMs, commandsOf(node), requests()];
    let done = 0;
    let open = players.length;
    for (const [place, player] of players.entries()) {
      player.process.run(async () => {
        player.steps ??= load.join(memberOf(world, node, player, place, processes), scale);
        const own = (await player.steps[name]?.()) ?? 0;
        done += own;
        open -= 1;
        if (open === 0) world.stop();
      });
    }
    await world.run(world.nowMs + longestMs);
    const [error] = world.errors;
    if (error) throw error.error;
    if (open > 0) throw new Error(`${load.id}, ${name}: ${open} of ${players.length} processes hang`);
    if (!counted) continue;
    rows.push({
      ...{ load: load.id, phase: name, way: "virtual", processes, done },
      seconds: Math.round(world.nowMs - sinceMs) / 1_000,
      requests: requests() - sent,
      commands: commandsOf(node) - before - 1, // less the question before
      ...{ clientCpuMs: null, serverCpuMs: null, scriptMs: null, dataBytes: null, allBytes: null },
    });
  }
  return rows;
}

function memberOf(world: World, node: Node, player: Player, place: number, processes: number): Member {
  const { process } = player;
  const called = (word: string): void => {
    player.requests += 1;
    if (word.startsWith("EVAL")) player.scripts += 1;
  };
  const client = new SimClient(world.link(process, node), {}, called);
  const another = () =>
    new Holdfast(client, { clock: process.clock, random: process.random, label: process.name });
  return {
    ...{ place, processes, another, hf: another() },
    send: (...words) => client.call(...words),
    scripts: () => player.scripts,
    nowMs: () => process.monoMs,
    sleep: (ms) => process.sleep(ms),
  };
}

/** Commands that the server has run so far, those inside scripts included. */
function commandsOf(node: Node): number {
  return Number(/^total_commands_processed:(\d+)/m.exec(String(node.peek("INFO", "stats")))?.[1]);
}
