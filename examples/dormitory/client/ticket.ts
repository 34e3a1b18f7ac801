/** Keeps the place in the queue up to date: by a stream of events, or by asking again where there is no stream. */
interface Shown {
  readonly kind: string;
  readonly lines: Readonly<Record<string, string>>;
}

const POLL_MS = 2_000;
/** A stream that ends is open again within this time, unless the server is gone. */
const LATE_MS = 3_000;
const panel = document.querySelector<HTMLElement>("[data-ticket]");
const status = document.querySelector<HTMLElement>("[data-away]");

/** Whether the place is the present one: if not, then who does not answer. The texts are in the page. */
function say(panel: HTMLElement, word: "current" | "away" | "broken"): void {
  panel.toggleAttribute("data-old", word !== "current");
  const text = status?.dataset[word] ?? "";
  if (status && status.textContent !== text) status.textContent = text;
}

function show(panel: HTMLElement, { kind, lines }: Shown): void {
  for (const [name, text] of Object.entries(lines)) {
    const line = panel.querySelector(`[data-line="${name}"]`);
    if (line && line.textContent !== text) line.textContent = text;
  }
  say(panel, "current");
  // The result has buttons of its own, so the server writes that page.
  if (kind !== panel.dataset["ticket"]) location.replace("/grab");
}

async function poll(panel: HTMLElement): Promise<void> {
  try {
    const answer = await fetch("/ticket", { headers: { accept: "application/json" } });
    if (answer.ok) show(panel, (await answer.json()) as Shown);
    // The session has ended: that page leads to the sign-in.
    else if (answer.status === 401) location.replace("/grab");
    else say(panel, answer.status === 503 ? "away" : "broken");
  } catch {
    say(panel, "broken");
  }
  setTimeout(() => void poll(panel), POLL_MS);
}

function listen(panel: HTMLElement): void {
  const events = new EventSource("/events");
  let late: ReturnType<typeof setTimeout> | undefined;
  const back = (): void => {
    clearTimeout(late);
    late = undefined;
  };
  events.addEventListener("open", back);
  events.addEventListener("ticket", (event) => show(panel, JSON.parse(event.data) as Shown));
  events.addEventListener("away", () => say(panel, "away"));
  events.addEventListener("error", () => {
    late ??= setTimeout(() => say(panel, "broken"), LATE_MS);
    if (events.readyState !== EventSource.CLOSED) return;
    // A browser reconnects by itself, except after an answer that is no stream.
    back();
    void poll(panel);
  });
}

if (panel) {
  if ("EventSource" in window) listen(panel);
  else void poll(panel);
}

export {};
