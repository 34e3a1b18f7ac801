/**
 * Asks from time to time, while the page is visible, whether the selection of the team has changed, and then loads the page
 * again. A page that nobody looks at has no connection and sends nothing.
 */
const LEAST_MS = 10_000;
/** Pages that were opened at the same moment, as at the start, do not ask at the same moment. */
const SPREAD_MS = 5_000;
const seen = document.querySelector<HTMLElement>("[data-seen]")?.dataset["seen"] ?? "";
let timer: ReturnType<typeof setTimeout> | undefined;

function later(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void ask(), LEAST_MS + Math.random() * SPREAD_MS);
}

async function ask(): Promise<void> {
  if (document.visibilityState === "hidden") return;
  later();
  try {
    const answer = await fetch(`/ticket?seen=${seen}`, { headers: { accept: "application/json" } });
    if (answer.status === 200) location.replace("/grab?said=team");
  } catch {
    // The server is gone for a moment. The next turn asks again.
  }
}

document.addEventListener("visibilitychange", () => void ask());
later();

export {};
