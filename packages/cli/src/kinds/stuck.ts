/** What `show` says of handlers that run after their time-out. */
export function stuckIn({ stuck }: { readonly stuck: number }): [string, string][] {
  return stuck > 0 ? [["stuck", `${stuck} handlers run after their timeout`]] : [];
}
