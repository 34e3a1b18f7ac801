/** A holder, a fault of the server, and the next holder: by a counter of tokens, or by holdfast. */
import type { NodeCopy } from "@holdfast/embedded";
import { type Lease, StaleTokenError } from "holdfast";
import { expect } from "vitest";
import { checkTokens } from "../../src/history/tokens.js";
import { NaiveLock } from "./naive.js";
import { failure, type Program, Scene } from "./scene.js";

export const TTL_MS = 10_000;
export const RECORD = "holdfast:{it}:record:it";

/** Takes the lock and a token for it from a counter, as many fencing recipes do, and writes. */
export async function countedToken(program: Program): Promise<void> {
  const lock = new NaiveLock(program, { ttlMs: TTL_MS });
  const invMs = program.nowMs;
  await lock.acquire();
  const token = BigInt(String(await lock.client.call("INCR", "it:tokens")));
  program.note({ f: "acquire", key: "it", invMs, retMs: program.nowMs, token });
}

export async function leaseOf(program: Program, leases: Lease[], floor?: bigint): Promise<Lease> {
  const invMs = program.nowMs;
  const lease = await program.holdfast().mutex("it", { ttl: TTL_MS }).acquire({ wait: 30_000, floor });
  program.note({ f: "acquire", key: "it", invMs, retMs: program.nowMs, token: lease.fence });
  leases.push(lease);
  return lease;
}

export type Fault = (scene: Scene) => void;

/** `a` holds, the fault happens at 1,000 ms, and `b` takes the lock that the server no longer knows. */
export async function twoCounters(fault: Fault, prepare: Fault = () => {}): Promise<Scene> {
  const scene = await Scene.open();
  const [old, a, b] = [scene.program("old"), scene.program("a"), scene.program("b")];
  old.run(async () => {
    await countedToken(old);
    await new NaiveLock(old).release();
  });
  scene.world.at(100, () => prepare(scene));
  a.run(async () => {
    await a.sleep(200);
    await countedToken(a);
  });
  b.run(async () => {
    await b.sleep(2_000);
    await countedToken(b);
  });
  scene.world.at(1_000, () => fault(scene));
  await scene.until(5_000);
  return scene;
}

/**
 * The same with holdfast: and `a` still writes when `b` has been there.
 * @param floor of `b`: where there is one, another script grants
 */
export async function twoLeases(fault: Fault, prepare: Fault = () => {}, floor?: bigint) {
  const scene = await Scene.open();
  const [old, a, b] = [scene.program("old"), scene.program("a"), scene.program("b")];
  const leases: Lease[] = [];
  let refusal: Error | undefined;
  old.run(async () => {
    await (await leaseOf(old, [])).release();
  });
  scene.world.at(100, () => prepare(scene));
  a.run(async () => {
    await a.sleep(200);
    const lease = await leaseOf(a, leases);
    const record = a.holdfast().record("it");
    await a.sleep(5_000 - a.nowMs);
    refusal = await failure(record.put("a", { fence: lease }));
  });
  b.run(async () => {
    await b.sleep(2_000);
    const lease = await leaseOf(b, leases, floor);
    await b.holdfast().record("it").put("b", { fence: lease });
  });
  scene.world.at(1_000, () => fault(scene));
  await scene.until(20_000);
  expect(leases).toHaveLength(2);
  expect(checkTokens(scene.operations)).toEqual([]);
  expect(refusal).toBeInstanceOf(StaleTokenError);
  expect(scene.node.peek("HGET", RECORD, "value")).toBe('j"b"');
  return { scene, leases: leases as [Lease, Lease] };
}

export const restart: Fault = ({ node }) => node.restart();
/** As far as a replica has come in each scene. */
const copies = new WeakMap<Scene, NodeCopy>();
export const remember: Fault = (scene) => void copies.set(scene, scene.node.remember());
export const fallBack: Fault = ({ node }) => node.rollback(800);
export const failOver =
  (offsetMs: number): Fault =>
  (scene) =>
    scene.node.promote(copies.get(scene) as NodeCopy, offsetMs);

export const broken = ({ operations }: Scene) => checkTokens(operations).map(({ property }) => property);
