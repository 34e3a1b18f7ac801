/** The look of the report, in light and dark, on wide and on narrow screens. */
import type { VARIANT_NAMES } from "../variants.js";

export const STYLE = `
:root { --ink: #1c2126; --soft: #5b6670; --line: #d9dee3; --paper: #ffffff; --bad: #b42318; --good: #1a7f37; --warn: #9a6700; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ec; --soft: #9aa5b0; --line: #343c44; --paper: #14181c; --bad: #ff8a80; --good: #5fd07f; --warn: #e6b450; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 940px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { margin: 0; font-size: 30px; }
h2 { margin: 40px 0 4px; font-size: 21px; }
p { margin: 4px 0 12px; max-width: 74ch; }
.conditions, .notes { color: var(--soft); font-size: 14px; }
.notes { list-style: none; padding: 0; margin: 12px 0 0; }
.scroll { overflow-x: auto; margin-top: 20px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 15px; }
th, td { padding: 7px 10px; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
thead th { color: var(--soft); font-weight: 600; font-size: 13px; }
th:first-child, td:first-child { text-align: left; padding-left: 0; font-weight: 600; }
.reference th, .reference td { color: var(--soft); font-weight: 400; }
.bad { color: var(--bad); font-weight: 700; }
.good { color: var(--good); }
.warn { color: var(--warn); font-weight: 600; }
.dot { display: inline-block; width: 11px; height: 11px; border-radius: 50%; margin-right: 8px; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 20px; font-size: 14px; }
figure { margin: 8px 0 0; color: var(--ink); overflow-x: auto; }
figure svg { max-width: 100%; height: auto; }
.narrow { display: none; }
@media (max-width: 700px) {
  main { padding: 20px 16px 48px; }
  .wide { display: none; }
  .narrow { display: block; }
  .narrow svg { width: 100%; }
  thead { display: none; }
  table, tbody { display: block; }
  tr { display: grid; grid-template-columns: repeat(3, 1fr); padding: 10px 0; border-bottom: 1px solid var(--line); }
  th:first-child { grid-column: 1 / -1; padding: 0; }
  th, td { border: 0; padding: 2px 0; text-align: left; }
  td:empty { display: none; }
  td::before { content: attr(data-head); display: block; color: var(--soft); font-size: 12px; font-weight: 400; }
}
`;

/** Colours that are told apart in either setting and with weak colour sight (after Okabe and Ito). */
export const VARIANT_COLORS: Readonly<
  Record<(typeof VARIANT_NAMES)[number], { light: string; dark: string }>
> = {
  none: { light: "#c2410c", dark: "#ff8a5c" },
  mutex: { light: "#0072b2", dark: "#5cb8f0" },
  fenced: { light: "#00795a", dark: "#3fd0a2" },
  script: { light: "#8e4585", dark: "#e29ad8" },
  // No page shows these beside mutex, fenced or script.
  redlock: { light: "#0072b2", dark: "#5cb8f0" },
  "npm-redlock": { light: "#8e4585", dark: "#e29ad8" },
};
