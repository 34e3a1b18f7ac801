/** A timeline as a page of its own, which loads nothing. */
import { drawSvg } from "./svg.js";
import type { Timeline } from "./timeline.js";

export function drawHtml(timeline: Timeline): string {
  const svg = drawSvg(timeline);
  const title = /<title[^>]*>(.*)<\/title>/.exec(svg)?.[1] ?? "";
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>
  body { margin: 0; background: #ffffff; }
  main { overflow-x: auto; padding: 12px; }
  svg { display: block; margin: 0 auto; }
  @media (prefers-color-scheme: dark) { body { background: #10151b; } }
</style>
<main>
${svg}</main>
</html>
`;
}
