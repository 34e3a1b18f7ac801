/** Debian's chromium, or the one that CHROMIUM names; without one the tests in browsers are left out with a line. */
import { accessSync, constants } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const candidates = [
  process.env["CHROMIUM"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

export const executablePath = candidates.find((path) => {
  try {
    accessSync(path ?? "", constants.X_OK);
    return true;
  } catch {
    return false;
  }
});

if (executablePath === undefined)
  console.warn("tests in browsers left out: no chromium (apt-get install chromium, or set CHROMIUM)");

export function launch(): Promise<Browser> {
  // Chromium refuses its sandbox to root.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath: executablePath ?? "", args });
}

export const phone: BrowserContextOptions = {
  viewport: { width: 390, height: 780 },
  hasTouch: true,
  isMobile: true,
};

/** How far the page is wider than the window; pages never scroll sideways. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}
