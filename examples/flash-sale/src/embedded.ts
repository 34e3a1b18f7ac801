/** Starts an embedded Valkey. The engine is loaded only where one is needed. */
import { toldOf, Unavailable } from "./failure.js";

export interface Embedded {
  readonly url: string;
  stop(): Promise<void>;
}

/** @throws {Unavailable} */
export async function startEmbedded(): Promise<Embedded> {
  const { EmbeddedValkey } = await import("@holdfast/embedded");
  try {
    return await EmbeddedValkey.start();
  } catch (error) {
    throw new Unavailable(`the embedded Valkey does not start: ${toldOf(error)}`);
  }
}
