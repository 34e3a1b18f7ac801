/** The page that people see while a penalty is in force: one file, without scripts, light and dark. */
import { seconds } from "./fields.js";

/** The page loads nothing and runs nothing. */
export const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** @param isRepeatable whether the page may reload itself: a form must not be sent twice */
export function busyPage(retryAfterMs: number | null, isRepeatable: boolean): string {
  const wait = retryAfterMs === null ? null : Math.max(1, seconds(retryAfterMs));
  const refresh = wait !== null && isRepeatable ? `\n<meta http-equiv="refresh" content="${wait + 1}">` : "";
  const bar = wait === null ? "" : `\n<div class="track"><div class="bar"></div></div>`;
  const again = wait === null ? "Please come back later." : `Please try again in ${lengthOf(wait)}.`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">${refresh}
<title>Busy</title>
<style>
:root { --back: #f7f7f5; --text: #1d1d1b; --soft: #5c5c57; --line: #d9d9d3; --mark: #2f6f5e; }
@media (prefers-color-scheme: dark) {
  :root { --back: #171816; --text: #ededea; --soft: #a3a49d; --line: #3a3b37; --mark: #7cc4ae; }
}
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem;
  background: var(--back); color: var(--text); font: 1.0625rem/1.5 system-ui, sans-serif;
}
main { width: 100%; max-width: 26rem; }
h1 { margin: 0 0 0.5rem; font-size: 1.5rem; line-height: 1.25; }
p { margin: 0; color: var(--soft); }
.track { margin-top: 1.5rem; height: 0.25rem; border-radius: 0.125rem; background: var(--line); overflow: hidden; }
.bar { height: 100%; background: var(--mark); transform-origin: left; animation: wait ${wait ?? 0}s linear forwards; }
@keyframes wait { from { transform: scaleX(1); } to { transform: scaleX(0); } }
</style>
</head>
<body>
<main>
<h1>That was a little too quick</h1>
<p>Too many requests came from you in a short time. ${again}</p>${bar}
</main>
</body>
</html>
`;
}

function lengthOf(wait: number): string {
  const [amount, unit] =
    wait < 120
      ? [wait, "second"]
      : wait < 7_200
        ? [Math.ceil(wait / 60), "minute"]
        : [Math.ceil(wait / 3_600), "hour"];
  return `${amount} ${unit}${amount === 1 ? "" : "s"}`;
}
