/** A timeline as SVG and HTML: well-formed whatever it says, complete in itself, and no label upon another. */
import { describe, expect, test } from "vitest";
import { Dice } from "../../src/chance/dice.ts";
import { drawHtml } from "../../src/timeline/html.ts";
import { drawSvg } from "../../src/timeline/svg.ts";
import { anyTimeline, pause } from "./examples.ts";

const SEEDS = 80;

describe("a timeline as SVG", () => {
  test("is well-formed XML, whatever things are called", () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const svg = drawSvg(anyTimeline(new Dice(seed)));
      expect(faultOf(svg), `seed ${seed}`).toBeUndefined();
      expect(svg, `seed ${seed}`).not.toMatch(/undefined|NaN|Infinity/);
    }
  });

  test("has no text upon another, and none outside the picture", () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const svg = drawSvg(anyTimeline(new Dice(seed)));
      const width = Number(/width="([\d.]+)"/.exec(svg)?.[1]);
      const boxes = textsOf(svg);
      for (const [at, box] of boxes.entries()) {
        const upon = boxes.slice(at + 1).find((other) => overlap(box, other));
        if (upon) expect.fail(`seed ${seed}: "${box.content}" and "${upon.content}"`);
        expect(box.x, `seed ${seed}: ${box.content}`).toBeGreaterThanOrEqual(0);
        // One word may be longer than its place.
        if (box.content.includes(" "))
          expect(box.x + box.width, `seed ${seed}: ${box.content}`).toBeLessThanOrEqual(width);
      }
    }
  });

  test("its key says what a hold is", () => {
    const texts = textsOf(drawSvg({ ...pause, held: "handles an event", labels: "" }));
    expect(texts.map(({ content }) => content)).toContain("handles an event");
  });

  test("its key says what the labels of holds are", () => {
    const keyOf = (labels?: string): string[] =>
      textsOf(drawSvg({ ...pause, ...(labels === undefined ? {} : { labels }) })).map(
        ({ content }) => content,
      );
    expect(keyOf()).toContain("has the lock, with this token");
    expect(keyOf("with its number")).toContain("has the lock, with its number");
    expect(keyOf("")).toContain("has the lock");
  });

  test("shows what happened", () => {
    const svg = drawSvg(pause);
    const texts = textsOf(svg).map(({ content }) => content);
    expect(texts).toEqual(expect.arrayContaining(["worker-1", "redis", "41", "42", "0.001 s", "granted 41"]));
    expect(texts).toEqual(
      expect.arrayContaining(["the file has seen 42 and refuses 41", "refused by the fence"]),
    );
    expect(svg.match(/class="hold"/g)).toHaveLength(3);
    expect(svg).toContain("prefers-color-scheme: dark");
  });

  test("as a page loads nothing", () => {
    const html = drawHtml(pause);
    expect(html).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(html).toContain("<title>A pause longer than the lease</title>");
    expect(html.replaceAll('xmlns="http://www.w3.org/2000/svg"', "")).not.toMatch(
      /https?:|src=|@import|<script|<link/,
    );
    expect(html.replaceAll("url(#hatch)", "")).not.toContain("url(");
  });
});

/** What is wrong with it as XML; enough of XML for what is drawn. */
function faultOf(xml: string): string | undefined {
  const open: string[] = [];
  const tags = /<(\/?)([a-z]+)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>/gi;
  for (const [, close, name, attributes, own] of xml.matchAll(tags)) {
    if (close && open.pop() !== name) return `</${name}> closes another`;
    if (!close && !own) open.push(name!);
    const names = [...attributes!.matchAll(/([\w:-]+)=/g)].map(([, attribute]) => attribute);
    if (new Set(names).size < names.length) return `<${name}> has an attribute twice`;
  }
  if (open.length > 0) return `<${open.at(-1)}> is not closed`;
  const texts = xml.replaceAll(tags, "");
  if (/[<>]|&(?!amp;|lt;|gt;|quot;)/.test(texts)) return "a sign that is not escaped";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
  return /[\u0000-\u0008\u000b-\u001f]/.test(xml) ? "a control character" : undefined;
}

interface Text {
  readonly content: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Widths as a font takes them on average: the drawing reckons with more. */
function textsOf(svg: string): Text[] {
  const texts = svg.matchAll(/<text class="([^"]*)" x="([\d.-]+)" y="([\d.-]+)">([^<]*)<\/text>/g);
  return [...texts].map(([, name, x, y, content]) => {
    const size = name === "title" ? 19 : name === "said" ? 12 : 13;
    const width = content!.replace(/&\w+;/g, "x").length * size * 0.5;
    const start = { time: 1, said: 0.5, "on-hold": 0.5, "head-text": 0.5 }[name!] ?? 0;
    return {
      content: content!,
      x: Number(x) - start * width,
      y: Number(y) - size * 0.75,
      width,
      height: size * 0.9,
    };
  });
}

function overlap(a: Text, b: Text): boolean {
  const isBeside = a.x + a.width <= b.x || b.x + b.width <= a.x;
  return !isBeside && a.y < b.y + b.height && b.y < a.y + a.height;
}
