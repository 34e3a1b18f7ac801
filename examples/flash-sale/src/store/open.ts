import type { VariantName } from "../variants.js";
import type { Store, StoreOptions } from "./store.js";

/** Loads a variant when a server needs it: the servers start quicker, and fail only for what they use. */
export async function openStore(variant: VariantName, options: StoreOptions): Promise<Store> {
  switch (variant) {
    case "none":
      return (await import("./none.js")).openUnlockedStore(options);
    case "mutex":
      return (await import("./mutex.js")).openMutexStore(options);
    case "fenced":
      return (await import("./fenced.js")).openFencedStore(options);
    case "script":
      return (await import("./script.js")).openScriptStore(options);
    case "redlock":
      return (await import("./redlock.js")).openRedlockStore(options);
    case "npm-redlock":
      return (await import("./npm-redlock.js")).openNpmRedlockStore(options);
  }
}
