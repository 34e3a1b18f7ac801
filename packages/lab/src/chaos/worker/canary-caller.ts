/** CanaryCaller: takes a canary's lock and gives it back, over and over. Its work is far shorter than its ttl: only faults break it. */
import type { Redis } from "ioredis";
import type { Dice } from "../../chance/dice.js";
import type { Recorder } from "../../history/recorder.js";
import { monoMs, pauseMs } from "../time.js";
import type { Canary, CanaryHold } from "./canaries/canary.js";
import { fixedTtl } from "./canaries/fixed-ttl.js";
import { redisSemaphore } from "./canaries/redis-semaphore.js";
import { redlock } from "./canaries/redlock.js";
import { setnxExpire } from "./canaries/setnx-expire.js";
import type { CanaryName } from "./task.js";

export interface CanaryParts {
  readonly name: CanaryName;
  readonly key: string;
  readonly ttlMs: number;
  readonly recorder: Recorder;
  readonly dice: Dice;
  readonly client: Redis;
}

const BUSY_MS = 15;
const WORK_SHARE = 0.3;

export class CanaryCaller {
  readonly #parts: CanaryParts;
  readonly #canary: Canary;

  constructor(parts: CanaryParts) {
    this.#parts = parts;
    const { client, recorder } = parts;
    let values = 0;
    const make = {
      "setnx-expire": () => setnxExpire(client),
      "fixed-ttl": () => fixedTtl(client, () => `${recorder.process}/${++values}`),
      redlock: () => redlock(client),
      "redis-semaphore": () => redisSemaphore(client),
    };
    this.#canary = make[parts.name]();
  }

  async run(isOver: () => boolean): Promise<void> {
    const { dice, key, recorder } = this.#parts;
    while (!isOver()) {
      const held = await this.#acquire();
      if (held) {
        const believed = recorder.begin("hold", key, held.token === undefined ? {} : { token: held.token });
        await pauseMs(dice.between(0, this.#parts.ttlMs * WORK_SHARE));
        const nowMs = monoMs();
        believed.ok({ endMs: Math.min(nowMs, held.believedUntilMs()) });
        const release = recorder.begin("release", key);
        await held.release().then(
          () => release.ok(),
          (error) => release.info(String(error)),
        );
      }
      await pauseMs(dice.between(0, BUSY_MS * 2));
    }
  }

  async #acquire(): Promise<CanaryHold | null> {
    const { key, recorder, ttlMs } = this.#parts;
    const entry = recorder.begin("acquire", key);
    try {
      const held = await this.#canary.acquire(key, ttlMs);
      if (held) entry.ok(held.token === undefined ? {} : { token: held.token });
      else entry.fail("busy");
      return held;
    } catch (error) {
      entry.info(String(error));
      return null;
    }
  }
}
