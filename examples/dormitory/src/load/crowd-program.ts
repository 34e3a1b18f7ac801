/**
 * The program of the students. It is a process of its own: the first process hands connections to the web servers and has
 * the embedded Valkey, and thousands of students beside them would measure themselves.
 */
import { Crowd } from "./crowd.js";
import { Http } from "./http.js";
import type { CrowdSetup, FromCrowd, ToCrowd } from "./messages.js";

function say(message: FromCrowd): void {
  if (process.connected) process.send?.(message);
}

class Program {
  readonly #http: Http;
  readonly #crowd: Crowd;

  constructor({ origin, connections, accounts }: CrowdSetup) {
    // The first process ends this one; there is nothing else that stops it.
    const { signal } = new AbortController();
    this.#http = new Http({ origin, connections, signal });
    this.#crowd = new Crowd({
      http: this.#http,
      accounts,
      signal,
      onSignedIn: (students) => say({ type: "signed in", students }),
      onDecided: (students, sinceStartMs) => say({ type: "decided", students, sinceStartMs }),
    });
  }

  signIn(): Promise<void> {
    return this.#crowd.signIn();
  }

  async choose(startsAtMs: number): Promise<void> {
    const before = { ...this.#http.counts };
    const heard = await this.#crowd.choose(performance.now() + startsAtMs - Date.now());
    const { requests, retries } = this.#http.counts;
    say({ type: "heard", heard, requests: requests - before.requests, retries: retries - before.retries });
    await this.#http.close();
  }
}

let program: Program | null = null;

async function obey(message: ToCrowd): Promise<void> {
  if (message.type === "sign in") {
    program = new Program(message.setup);
    await program.signIn();
  } else {
    await program?.choose(message.startsAtMs);
  }
}

process.on("SIGINT", () => undefined); // Ctrl-C reaches the whole group; the first process says when to stop.
process.on("disconnect", () => process.exit(0));
process.on("message", (message: ToCrowd) => {
  obey(message).catch((error: unknown) => {
    say({ type: "failed", message: error instanceof Error ? error.message : String(error) });
  });
});
