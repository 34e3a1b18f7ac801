/**
 * Comeback (K3): a node restarts without its data while a lease is held, which the others keep; and when it votes again, the
 * lease is held there as well.
 */
import type { Caller } from "../../caller.js";
import { holderAt } from "../mutex/node-state.js";
import type { LockProcess, LockScene } from "../mutex/plan.js";
import { isSeatOf } from "./quorum.js";

const lock = "comeback:1";
/** By then every connection is back after the faults. */
const quietMs = 3_000;
const downMs = 100;
/** It says in whole seconds for how long it has been up, may have slept through half a period, and a renewal has to come first. */
const backMs = 5_000;
/** What it needs in all, beyond the quarantine. */
export const comebackMs = quietMs + backMs + 15_000;
/** A client that went on trying meanwhile has waited for longer each time. */
const waitMs = 10_000;
const share = 0.3;

export async function judgeComeback(
  scene: LockScene,
  { name, process, redlock, plan }: Caller,
): Promise<void> {
  const dice = scene.world.dice("comeback");
  const { ttlMs } = plan as LockProcess;
  if (!dice.chance(share)) return;
  // What restarted in the faults votes again.
  await process.sleep(quietMs + scene.maxTtlMs + backMs);
  const lease = await redlock.mutex(lock, { ttl: ttlMs }).acquire({ wait: waitMs });
  // A node that came back and had no request since then answers after the majority. A renewal takes it back in.
  await process.sleep(ttlMs);
  const node = dice.pick(scene.nodes);
  const seatAt = (): string | undefined => (node.isUp ? holderAt(node, lock)?.id : undefined);
  node.crash();
  await process.sleep(downMs);
  node.restart();
  await process.sleep(scene.maxTtlMs + backMs);
  const id = seatAt();
  if (!lease.valid || lease.signal.aborted)
    scene.fail("K3", `${name} lost "${lock}" when ${node.name} restarted, and nothing else was wrong`);
  else if (id === undefined || !isSeatOf(id, lease.id))
    scene.fail(
      "K3",
      `${node.name} votes again, and does not hold "${lock}" for ${name}, which the others do`,
    );
  await lease.release();
}
