/** What the library as it is does on each seed: the hash of its run, and the places it comes by. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { planOf } from "../sim/swarm/run.js";
import type { Bundles } from "./bundle.js";
import { writeWhole } from "./files.js";
import type { Mutant } from "./mutant.js";
import { canShow, Places } from "./reach.js";
import type { Runner } from "./runner.js";
import { changedFiles, changesOf, readSource } from "./sources.js";

interface Run {
  readonly hash: string;
  readonly reach: string;
}

interface Kept {
  readonly digest: string;
  readonly runs: readonly (readonly [seed: number, run: Run])[];
}

const batchSeeds = 5;

export class Seeds {
  /** Of the library and the simulator: what was found out about others is of no use. */
  readonly digest: string;
  readonly #places = new Places();
  readonly #texts: ReadonlyMap<string, string>;
  readonly #file: string;
  readonly #runs: Map<number, Run>;
  readonly #outcomes = new Map<number, Uint8Array>();

  /** @param file where it is kept from one call to the next */
  constructor(file: string) {
    const typescript = changedFiles().filter((name) => name.endsWith(".ts"));
    this.#texts = new Map(
      typescript.map((name) => {
        const source = readSource(name);
        return [name, this.#places.watch(name, source, changesOf(name, source))];
      }),
    );
    this.#file = file;
    this.digest = digestOf(this.#texts);
    this.#runs = new Map(keptIn(file, this.digest));
  }

  /** Runs the first `count` seeds, where that was not done before. @throws one fails */
  async explore(
    count: number,
    bundles: Bundles,
    runners: readonly Runner[],
    signal: AbortSignal,
  ): Promise<void> {
    const missing = inOrder(count).filter((seed) => !this.#runs.has(seed));
    if (missing.length === 0) return;
    const library = await bundles.make(this.#texts);
    const work = async (runner: Runner): Promise<void> => {
      while (missing.length > 0 && !signal.aborted) {
        const seeds = missing.splice(0, batchSeeds);
        const { kill, hashes, reaches } = await runner.try({ library, seeds, places: this.#places.count });
        if (kill) {
          const { seed, property, message } = kill;
          throw new Error(`seed ${seed} fails on the library as it is: ${property}: ${message}`);
        }
        for (const [seed, hash] of hashes) this.#runs.set(seed, { hash, reach: reaches.get(seed) ?? "" });
        const kept: Kept = { digest: this.digest, runs: [...this.#runs] };
        writeWhole(this.#file, JSON.stringify(kept));
      }
    };
    await Promise.all(runners.map(work));
  }

  /** Of the first `count` seeds in their order, those after the place `from` that can show it, by their places. */
  forMutant(
    mutant: Mutant,
    from: number,
    count: number,
  ): { readonly seed: number; readonly place: number }[] {
    const place = this.#places.of(mutant);
    return inOrder(count)
      .map((seed, at) => ({ seed, place: at + 1 }))
      .filter((each) => each.place > from && canShow(mutant, place, this.#outcomesOf(each.seed)));
  }

  hash(seed: number): string | undefined {
    return this.#runs.get(seed)?.hash;
  }

  #outcomesOf(seed: number): Uint8Array {
    let outcomes = this.#outcomes.get(seed);
    if (!outcomes) {
      outcomes = Buffer.from(this.#runs.get(seed)?.reach ?? "", "base64");
      this.#outcomes.set(seed, outcomes);
    }
    return outcomes;
  }
}

/** Every third seed has no fault: there the strictest rules hold. */
function inOrder(count: number): number[] {
  const seeds: number[] = [];
  let [calm, wild] = [0, 0];
  while (seeds.length < count) {
    if (seeds.length % 3 === 0) {
      do calm += 1;
      while (planOf(calm).faults.length > 0);
      seeds.push(calm);
    } else {
      do wild += 1;
      while (planOf(wild).faults.length === 0);
      seeds.push(wild);
    }
  }
  return seeds;
}

function digestOf(texts: ReadonlyMap<string, string>): string {
  const digest = createHash("sha1");
  for (const text of texts.values()) digest.update(text);
  for (const file of changedFiles()) digest.update(readSource(file));
  const simulator = fileURLToPath(new URL("../sim/", import.meta.url));
  for (const file of readdirSync(simulator, { recursive: true, encoding: "utf8" }).sort())
    if (file.endsWith(".js")) digest.update(readFileSync(resolve(simulator, file)));
  return digest.digest("hex");
}

function keptIn(file: string, digest: string): Kept["runs"] {
  try {
    const kept = JSON.parse(readFileSync(file, "utf8")) as Kept;
    return kept.digest === digest ? kept.runs : [];
  } catch {
    return []; // never written, or half
  }
}
