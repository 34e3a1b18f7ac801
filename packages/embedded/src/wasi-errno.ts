/** The WASI error numbers in use, and nothing else, so that both import tables share one list. */
export const errno = {
  success: 0,
  badDescriptor: 8,
  exists: 20,
  invalid: 28,
  isFolder: 31,
  noEntry: 44,
  notFolder: 54,
} as const;
