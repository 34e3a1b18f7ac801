/** All code that a Holdfast loads when it is first needed, at once. */
import { recordCalls } from "./fencing/redis/fenced-record.js";
import { examination, inspection, later, limitation, protection } from "./holdfast.js";
import { adapters } from "./redis/clients/detect.js";
import { opener } from "./redis/clients/url.js";

/**
 * Loads now what holdfast otherwise loads when it is first needed. For processes whose files are replaced while
 * they run, and for simulations, in which nothing may wait for a disk.
 * @throws {NotLoadedError}
 */
export async function preload(): Promise<void> {
  const parts = [
    later,
    recordCalls,
    inspection,
    examination,
    limitation,
    protection,
    opener,
    ...Object.values(adapters),
  ];
  await Promise.all(parts.map((part) => part.load()));
}
