import { chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findServers } from "../servers.ts";
import { tree } from "./tree.ts";

describe("servers", () => {
  const folder = () => {
    const files = { "redis-server": "#!/bin/sh\n", "cache/holdfast/redis-server": "#!/bin/sh\n" };
    const path = tree({ ...files, text: "", "sub/file": "" });
    for (const file of Object.keys(files)) chmodSync(join(path, file), 0o755);
    return path;
  };
  const redis = (env: NodeJS.ProcessEnv) => findServers({ HOLDFAST_NGINX: "", ...env }).HOLDFAST_REDIS_SERVER;

  test.skipIf(process.platform === "win32")(
    "are found on PATH, by name or by path; set to nothing, there is none",
    () => {
      const path = folder();
      const program = join(path, "redis-server");
      expect(redis({ PATH: path })).toBe(program);
      expect(redis({ PATH: path, HOLDFAST_REDIS_SERVER: "redis-server" })).toBe(program);
      expect(redis({ PATH: "", HOLDFAST_REDIS_SERVER: program })).toBe(program);
      expect(redis({ PATH: path, HOLDFAST_REDIS_SERVER: "" })).toBe("");
      expect(redis({ PATH: "", XDG_CACHE_HOME: join(path, "cache") })).toBe(
        join(path, "cache/holdfast/redis-server"),
      );
      expect(redis({ PATH: "", HOME: path })).toBe("");
    },
  );

  test.skipIf(process.platform === "win32")("that are named and cannot be run are refused", () => {
    const path = folder();
    for (const named of ["/nope", join(path, "text"), join(path, "sub"), "no-such-program"]) {
      expect(() => redis({ PATH: path, HOLDFAST_REDIS_SERVER: named })).toThrow(
        `HOLDFAST_REDIS_SERVER=${named} is no program`,
      );
    }
    expect(() => findServers({ HOLDFAST_REDIS_SERVER: "", HOLDFAST_NGINX: "/nope" })).toThrow(
      "HOLDFAST_NGINX=/nope is no program",
    );
  });
});
