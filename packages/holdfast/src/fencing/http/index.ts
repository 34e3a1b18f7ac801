/** `holdfast/fencing/http`: requests that carry a fencing token, and a server that refuses overtaken ones. */
export { type FetchFunction, fencedFetch } from "./fenced-fetch.js";
export { fencingHeaders, HOLDER_HEADER, holderOf, TOKEN_HEADER } from "./headers.js";
export { type FenceStore, HttpFence, type HttpFenceOptions } from "./http-fence.js";
export { MemoryFences, type MemoryFencesOptions } from "./memory-fences.js";
export { type FencedRecords, RecordFences } from "./record-fences.js";
