import { expect, test } from "vitest";
import { completed, type Lock, missingEntries } from "../lock.ts";

const lock: Lock = {
  lockfileVersion: 3,
  packages: {
    "": {},
    "node_modules/tool": {
      version: "1.0.0",
      dev: true,
      optionalDependencies: {
        "@tool/linux-x64-gnu": "1.0.0",
        "@tool/linux-x64-musl": "1.0.0",
        "@tool/win32-arm64": "1.0.0",
        fsevents: "~2.3.2",
      },
    },
    "node_modules/@tool/linux-x64-gnu": { version: "1.0.0" },
    "node_modules/app/node_modules/other": { optionalDependencies: { a: "1.0.0", b: "1.0.0", c: "1.0.0" } },
    "node_modules/app/node_modules/other/node_modules/a": {},
    "node_modules/app/node_modules/b": {},
    "node_modules/c": {},
  },
};

test("a platform that npm did not see is filled in; a range is left to npm", () => {
  expect(missingEntries(lock)).toEqual({
    "node_modules/@tool/linux-x64-musl": {
      ...{ version: "1.0.0", cpu: ["x64"], dev: true, libc: ["musl"], optional: true, os: ["linux"] },
    },
    "node_modules/@tool/win32-arm64": {
      version: "1.0.0",
      cpu: ["arm64"],
      dev: true,
      optional: true,
      os: ["win32"],
    },
  });
  expect(missingEntries(completed(lock))).toEqual({});
});
