/** The pictures of docs/guides/limits.md are what the library does in virtual time. */
import { expect, test } from "vitest";
import { mostWithin } from "../../src/limits/admission.js";
import { picturesOf, playAll } from "../../src/limits/gallery.js";

test("each type keeps its bound, and the pictures show it (vitest -u draws them)", async () => {
  const shown = await playAll();
  const most = shown.map(({ kind, admission }) => [kind.name, mostWithin(admission, kind.perS), kind.bound]);
  expect(most).toEqual([
    ["rolling", 19, 20],
    ["gcra", 12, 13],
    ["window", 19, 20],
    ["sliding", 10, 10],
    ["lifetime", 10, 10],
  ]);
  for (const [file, svg] of Object.entries(picturesOf(shown)))
    await expect(svg).toMatchFileSnapshot(`../../../../docs/guides/${file}`);
});
