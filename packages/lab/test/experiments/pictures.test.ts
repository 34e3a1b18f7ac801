/** The pictures of the README and of the guides are what the experiments do, with seed 1. */
import { expect, test } from "vitest";
import type { Experiment } from "../../src/experiments/experiment.js";
import { findExperiment } from "../../src/experiments/list.js";
import { drawSvg } from "../../src/timeline/svg.js";
import type { Timeline } from "../../src/timeline/timeline.js";

async function timelineOf(id: string, name: string): Promise<Timeline> {
  const { trials } = await (findExperiment(id) as Experiment).run(1);
  return trials.find((trial) => trial.name === name)!.timeline;
}

test.each([
  ["D1", "mutex and fenced record", "lab-pause.svg", "wide"],
  ["D1", "mutex and fenced record", "lab-pause-narrow.svg", "narrow"],
  ["D23", "rwLock: readers come and go", "lab-readers.svg", "wide"],
  ["D24", "one mutex within the other", "lab-deadlock.svg", "wide"],
] as const)("%s, %s: docs/guides/%s (vitest -u draws it)", async (id, name, file, layout) => {
  const svg = drawSvg(await timelineOf(id, name), layout);
  await expect(svg).toMatchFileSnapshot(`../../../../docs/guides/${file}`);
});
