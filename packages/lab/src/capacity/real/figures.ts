/** What a real server says of itself. */
import type { Redis } from "ioredis";

export interface ServerFigures {
  /** Commands run, those inside scripts included. */
  readonly commands: number;
  readonly cpuMs: number;
  readonly scriptMs: number;
  /** Allocated, without the buffers of its clients. */
  readonly dataBytes: number;
  readonly allBytes: number;
}

export async function figuresOf(client: Redis): Promise<ServerFigures> {
  const text = await client.info("all");
  const figure = (name: string) => Number(new RegExp(`^${name}:(\\S+)`, "m").exec(text)?.[1]);
  const scripts = [...text.matchAll(/^cmdstat_eval(?:sha)?:calls=\d+,usec=(\d+)/gm)];
  const allBytes = figure("used_memory");
  return {
    commands: figure("total_commands_processed"),
    cpuMs: (figure("used_cpu_user") + figure("used_cpu_sys")) * 1_000,
    scriptMs: scripts.reduce((sum, [, us]) => sum + Number(us), 0) / 1_000,
    dataBytes: allBytes - figure("mem_clients_normal"),
    allBytes,
  };
}
