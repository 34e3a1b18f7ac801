/** For how long those who die keep the others in line waiting. */
import type { Lease } from "holdfast";
import { expect, it } from "vitest";
import { type Program, Scene } from "../hazards/scene.js";

const kinds = ["mutex", "semaphore"] as const;
type Kind = (typeof kinds)[number];

/** Its lease of the only permit. */
function hold(program: Program, kind: Kind, ttlMs: number): Promise<Lease> {
  const holdfast = program.holdfast();
  const wait = 100_000;
  return kind === "mutex"
    ? holdfast.mutex("it", { ttl: ttlMs }).acquire({ wait })
    : holdfast.semaphore("it", { permits: 1, ttl: ttlMs }).acquire({ wait });
}

/** Programs that come a second after each other, and when each had the name. */
async function queue(kind: Kind, ttlsMs: readonly number[]) {
  const scene = await Scene.open();
  const hadMs: number[] = [];
  const leases: Lease[] = [];
  const programs = ttlsMs.map((ttlMs, place) => {
    const program = scene.program(`p${place}`);
    program.run(async () => {
      await program.sleep(place * 1_000);
      leases[place] = await hold(program, kind, ttlMs);
      hadMs[place] = program.nowMs;
    });
    return program;
  });
  return { scene, programs, hadMs, leases };
}

it.each(kinds)(
  "%s: a holder of a short lease that dies keeps a waiter of a long one for its lease",
  async (kind) => {
    const { scene, programs, hadMs, leases } = await queue(kind, [30_000, 1_000, 60_000]);
    const [first, second] = programs as [Program, Program];
    scene.world.at(4_000, () => first.run(async () => leases[0]?.release()));
    scene.world.at(4_100, () => second.process.kill());
    await scene.until(30_000);
    expect(hadMs[1]).toBeLessThan(4_010);
    expect(hadMs[2]).toBeLessThan(5_100);
  },
);

it.each(kinds)(
  "%s: a holder that dies with those that are first in line keeps the others for its lease",
  async (kind) => {
    const { scene, programs, hadMs } = await queue(kind, [9_000, 9_000, 9_000, 9_000]);
    // Renewed after 3 s at the latest.
    scene.world.at(5_000, () => {
      for (const program of programs.slice(0, 3)) program.process.kill();
    });
    await scene.until(30_000);
    expect(hadMs).toHaveLength(4);
    expect(hadMs[3]).toBeGreaterThan(9_000);
    expect(hadMs[3]).toBeLessThan(12_100);
  },
);
