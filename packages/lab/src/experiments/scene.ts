/** What those who take part in a trial need of it, and of each other. */
import type { History } from "../history/history.js";
import type { Recorder } from "../history/recorder.js";
import type { Process } from "../sim/process.js";
import type { World } from "../sim/world.js";
import type { Mark } from "../timeline/timeline.js";
import type { Picture } from "./picture.js";

export interface Scene {
  readonly world: World;
  readonly history: History;
  readonly picture: Picture;
  /** When actors died, by name. */
  readonly deathsMs: Map<string, number>;
  readonly nowMs: number;
  /** For what the experiment counts by itself. */
  count(what: string, by?: number): void;
  mark(lane: string, kind: Mark["kind"], label: string, atMs?: number): void;
  /** Calls back after a time of the world. Returns the cancellation. */
  afterTrue(delayMs: number, run: () => void): () => void;
  /** The place of a grant in the order of grants. */
  nextGrant(): bigint;
}

/** Something that somebody believes to hold. */
export interface Held {
  /** Looks how long it may still be believed. */
  look(): void;
  /** Gives up the belief. */
  end(): void;
  /** The server has forgotten it. */
  forgotten(): void;
  /** As far as it goes at the end of the trial. */
  finish(): void;
}

export interface Holder {
  readonly name: string;
  readonly trial: Scene;
  readonly process: Process;
  readonly recorder: Recorder;
  readonly nowMs: number;
  readonly possessions: Set<Held>;
}
