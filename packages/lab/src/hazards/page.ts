/** The catalogue as a page for people. */
import type { Hazard, TestPlace } from "./hazard.js";
import { hazardSections } from "./hazards.js";

const LETTERS = "ABCD";

/** Markdown. */
export function hazardPage(): string {
  const all = hazardSections.flatMap(({ hazards }) => hazards);
  const shown = all.filter(({ later }) => later === undefined);
  const sections = hazardSections.map(({ title, hazards }, place) =>
    [
      `## ${LETTERS[place]}. ${title}`,
      "",
      "| | what happens | what can be seen with holdfast | shown by |",
      "| --- | --- | --- | --- |",
      ...hazards.map(rowOf),
    ].join("\n"),
  );
  return `${[
    "# Hazards",
    [
      "What goes wrong with locks on Redis, and where that is shown. Each row has a test in which a naive recipe, or",
      "another library's way, breaks (**breaks**), and one in which holdfast does not (**holds**). Most run the real",
      "engine in virtual time: `packages/lab/test/hazards`.",
    ].join("\n"),
    `${shown.length} of ${all.length} are shown; the others concern what is not built yet, and say so.`,
    ...sections,
  ].join("\n\n")}\n`;
}

function rowOf({ id, sentence, answer, red, green, later }: Hazard): string {
  const places = [
    ...red.map((place) => `**breaks** ${titleOf(place)}`),
    ...green.map((place) => `**holds** ${titleOf(place)}`),
  ];
  return `| ${[id, cell(sentence), cell(answer), later ? `later: ${cell(later)}` : places.join("<br>")].join(" | ")} |`;
}

function titleOf({ file, title }: TestPlace): string {
  return `[${cell(title)}](../${file})`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
