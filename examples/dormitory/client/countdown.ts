/** Counts down to the start by the server's clock, and opens the button at that moment. */
const AGAIN_MS = 60_000;
const timer = document.querySelector<HTMLElement>("[data-start]");
if (timer) {
  const start = Number(timer.dataset["start"]);
  // The server's clock less that of this machine, as of the moment when the page was written.
  const ahead = Number(timer.dataset["now"]) - Date.now();
  const day = timer.dataset["day"] ?? "d";
  const two = (value: number): string => String(value).padStart(2, "0");
  const tick = (): void => {
    const left = Math.max(0, Math.ceil((start - Date.now() - ahead) / 1_000));
    const days = Math.floor(left / 86_400);
    const clock = [Math.floor(left / 3_600) % 24, Math.floor(left / 60) % 60, left % 60].map(two).join(":");
    timer.textContent = days > 0 ? `${days} ${day} ${clock}` : clock;
    if (left > 0) {
      setTimeout(tick, 1_000 - ((Date.now() + ahead) % 1_000));
      return;
    }
    for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-at-start]"))
      button.disabled = false;
    const line = document.querySelector<HTMLElement>("[data-begun]");
    if (line) line.textContent = line.dataset["begun"] ?? "";
  };
  tick();
  // An administrator may move the start: a page that is open for long asks again.
  if (start - Date.now() - ahead > AGAIN_MS) setTimeout(() => location.reload(), AGAIN_MS);
}

export {};
