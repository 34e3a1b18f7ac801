/** End: what must hold at the end of every run, whatever its workload: P1, P2, and that something happened. */
import type { Node } from "../node.js";
import { neighbourPrefix } from "./neighbour.js";
import type { Scene } from "./scene.js";
import type { Work } from "./workload.js";

/** P2: nothing is left: no key without an end, no timer, no connection, no error that nobody caught. */
export function judgeEnd(scene: Scene, work: Work): void {
  const { world, nodes, lives } = scene;
  for (const { error, process, atMs } of world.errors) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    scene.fail("P2", `nobody caught an error of ${process ?? "the world"}: ${text}`, atMs);
  }
  for (const { process } of lives.values()) {
    const { name, timerCount, wires } = process;
    if (!scene.finished.has(name)) scene.fail("P1", `${name} did not come to its end`);
    else if (timerCount > 0 || wires.size > 0)
      scene.fail("P2", `${name} has ended, and has ${timerCount} timers and ${wires.size} connections`);
  }
  for (const node of nodes) judgeNode(scene, work, node);
  const progress = work.progress();
  const { leastProgress = 1 } = work;
  if (progress < leastProgress) scene.fail("progress", `progress: ${progress}, of ${leastProgress} at least`);
}

function judgeNode(scene: Scene, work: Work, node: Node): void {
  const found = node.peek("KEYS", "*");
  for (const key of Array.isArray(found) ? found.map(String) : []) {
    const isOurs = !key.startsWith(`${neighbourPrefix}:`);
    if (isOurs && node.peek("PTTL", key) === -1 && !work.mayStay?.(key))
      scene.fail("P2", `the key ${key} never expires`);
  }
  const [broken] = node.brokenScripts;
  if (broken !== undefined) scene.fail("error", `a script met what it does not expect: ${broken}`);
}
