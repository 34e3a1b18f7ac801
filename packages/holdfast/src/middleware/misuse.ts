/** Misuse of a middleware that only shows in requests. Each middleware publishes each problem once, and serves on. */
import { publish } from "../telemetry/events.js";
import { warnOnce } from "../telemetry/warnings.js";

const remedies = {
  "forwarded-ignored":
    "a request has X-Forwarded-For, but no proxy is trusted. Behind proxies, set the option `trust` of the middleware to their number, or all clients share one count. Without a proxy, set `trust: false`. The middleware does not read `trust proxy` of Express or `trustProxy` of Fastify",
  "forwarded-missing":
    "a trusted proxy sent no X-Forwarded-For: configure it to send one, or all its clients share one count",
  "charged-twice":
    "one request was charged twice by a limit for the same target: mount the middleware once, or give it a limit of its own",
} as const;

export class MisuseReports {
  readonly #published = new Set<string>();

  publish(problem: keyof typeof remedies, limit: string | null = null): void {
    const report = JSON.stringify([problem, limit]);
    if (this.#published.has(report)) return;
    this.#published.add(report);
    if (problem === "forwarded-ignored") warnOnce("HOLDFAST_FORWARDED_IGNORED", remedies[problem]);
    publish("holdfast:middleware:misuse", () => ({ problem, limit, remedy: remedies[problem] }));
  }
}
