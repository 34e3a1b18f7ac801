/** The colours of a drawing, for light and dark; of equal meaning in both, and told apart by shape as well. */
export const style = `
.timeline { --page: #ffffff; --ink: #1b2330; --soft: #5a6675; --line: #b9c3cf; --guide: #e6ebf0;
  --hold: #2463c9; --on-hold: #ffffff; --wait: #8fb0e6; --pause: #d99a1c; --bad: #c2252b; --good: #14743f;
  --fault: #8a5a00; --process: #eaf1fd; --server: #eef0f2; --resource: #e9f5ee; --sans: system-ui, "Segoe UI",
  Roboto, "Liberation Sans", Arial, sans-serif; font: 13px var(--sans); color: var(--ink); }
@media (prefers-color-scheme: dark) {
  .timeline { --page: #10151b; --ink: #e7ecf3; --soft: #9da9b8; --line: #465261; --guide: #1d252e;
    --hold: #6aa0ff; --on-hold: #0a1322; --wait: #4f74b5; --pause: #e0a83a; --bad: #ff7a76; --good: #5fd394;
    --fault: #f0bb57; --process: #1a2740; --server: #232a32; --resource: #17301f; }
}
.timeline text { fill: var(--ink); }
.timeline .page { fill: var(--page); }
.timeline .title { font-size: 19px; font-weight: 650; }
.timeline .caption, .timeline .time, .timeline .key { fill: var(--soft); }
.timeline .time { font-variant-numeric: tabular-nums; text-anchor: end; }
.timeline .lane { stroke: var(--line); stroke-width: 2; }
.timeline .guide { stroke: var(--guide); stroke-width: 1; }
.timeline .skipped { stroke: var(--page); stroke-width: 5; }
.timeline .head { stroke: var(--line); } .timeline .head-text { font-weight: 600; text-anchor: middle; }
.timeline .process { fill: var(--process); } .timeline .server { fill: var(--server); }
.timeline .resource { fill: var(--resource); }
.timeline .hold { fill: var(--hold); } .timeline .on-hold { fill: var(--on-hold); font-weight: 650; text-anchor: middle; }
.timeline .stale { fill: var(--page); stroke: var(--bad); stroke-width: 2; stroke-dasharray: 5 3; }
.timeline .wait { fill: var(--page); stroke: var(--wait); stroke-width: 1.5; stroke-dasharray: 3 3; }
.timeline .pause { fill: url(#hatch); stroke: var(--pause); stroke-width: 2; } .timeline .hatch { stroke: var(--pause); }
.timeline .arrow { fill: none; stroke: var(--ink); stroke-width: 1.5; } .timeline .late { stroke-dasharray: 6 4; }
.timeline .lost { stroke: var(--fault); stroke-dasharray: 3 4; }
.timeline .tip { fill: var(--ink); } .timeline .cross { stroke: var(--fault); stroke-width: 2.5; }
.timeline .said { font-size: 12px; text-anchor: middle; stroke: var(--page); stroke-width: 4; paint-order: stroke; }
.timeline .band-violation { fill: var(--bad); opacity: 0.13; } .timeline .band-fault { fill: var(--pause); opacity: 0.15; }
.timeline .mark { fill: var(--page); stroke-width: 2; } .timeline .mark-line { fill: none; stroke-width: 2.2; }
.timeline .is-bad { stroke: var(--bad); } .timeline .is-good { stroke: var(--good); }
.timeline .is-fault { stroke: var(--fault); } .timeline .is-plain { stroke: var(--soft); }
.timeline .told-bad { fill: var(--bad); font-weight: 650; } .timeline .told-good { fill: var(--good); font-weight: 600; }
.timeline .told-fault { fill: var(--fault); }
`;
