/** The live figures of a batch, once a second while the page is visible, with a line that shows the rate. */
interface Figures {
  readonly figures: Readonly<Record<string, string>>;
  readonly rate: number;
}

const EVERY_MS = 1_000;
const SHOWN = 60;
const panel = document.querySelector<HTMLElement>("[data-live]");
const rates: number[] = [];

function draw(panel: HTMLElement, rate: number): void {
  rates.push(rate);
  if (rates.length > SHOWN) rates.shift();
  const most = Math.max(1, ...rates);
  const points = rates.map((each, place) => `${(place * 100) / (SHOWN - 1)},${38 - (each / most) * 36}`);
  panel.querySelector("polyline")?.setAttribute("points", points.join(" "));
}

async function refresh(panel: HTMLElement, url: string): Promise<void> {
  const status = panel.querySelector("[role=status]");
  try {
    if (document.visibilityState === "visible") {
      const answer = await fetch(url, { headers: { accept: "application/json" } });
      if (!answer.ok) throw new Error(String(answer.status));
      const { figures, rate } = (await answer.json()) as Figures;
      for (const [name, text] of Object.entries(figures)) {
        const place = panel.querySelector(`[data-figure-of="${name}"]`);
        if (place) place.textContent = text;
      }
      draw(panel, rate);
      if (status) status.textContent = panel.dataset["current"] ?? "";
    }
  } catch {
    if (status) status.textContent = panel.dataset["broken"] ?? "";
  }
  setTimeout(() => void refresh(panel, url), EVERY_MS);
}

if (panel) void refresh(panel, panel.dataset["live"] ?? "");

export {};
