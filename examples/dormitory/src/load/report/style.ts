/** The look of the report, in light and dark, on wide and on narrow screens. */
export const STYLE = `
:root { --ink: #1c2126; --soft: #5b6670; --line: #d9dee3; --paper: #ffffff; --bad: #b42318; --good: #1a7f37; --way-locks: #0072b2; --way-lanes: #c2410c; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ec; --soft: #9aa5b0; --line: #343c44; --paper: #14181c; --bad: #ff8a80; --good: #5fd07f; --way-locks: #5cb8f0; --way-lanes: #ff8a5c; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 940px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { margin: 0; font-size: 30px; }
h2 { margin: 40px 0 4px; font-size: 21px; }
p { margin: 4px 0 12px; max-width: 74ch; }
.conditions, .notes { color: var(--soft); font-size: 14px; }
.notes { padding-left: 18px; }
table { border-collapse: collapse; width: 100%; margin-top: 20px; font-variant-numeric: tabular-nums; font-size: 15px; }
th, td { padding: 7px 8px; border-bottom: 1px solid var(--line); text-align: right; vertical-align: bottom; }
thead th { color: var(--soft); font-weight: 600; font-size: 13px; }
th:first-child { text-align: left; padding-left: 0; white-space: nowrap; }
.bad { color: var(--bad); font-weight: 700; }
.good { color: var(--good); }
.dot { display: inline-block; width: 11px; height: 11px; border-radius: 50%; margin-right: 8px; }
.dot.locks { background: var(--way-locks); }
.dot.lanes { background: var(--way-lanes); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 20px; font-size: 14px; }
figure { margin: 8px 0 0; }
figure svg { max-width: 100%; height: auto; }
.narrow { display: none; }
@media (max-width: 700px) {
  main { padding: 20px 16px 48px; }
  .wide { display: none; }
  .narrow { display: block; }
  .narrow svg { width: 100%; }
  thead { display: none; }
  table, tbody { display: block; }
  tr { display: grid; grid-template-columns: repeat(2, 1fr); padding: 10px 0; border-bottom: 1px solid var(--line); }
  th:first-child { grid-column: 1 / -1; }
  th, td { border: 0; padding: 2px 0; text-align: left; }
  td::before { content: attr(data-head); display: block; color: var(--soft); font-size: 12px; font-weight: 400; }
}
`;
