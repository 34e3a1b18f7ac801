import { CommanderError } from "commander";
import { expect, test, vi } from "vitest";
import { parseOptions } from "../src/options.js";
import { proxyOf } from "../src/setup.js";

test("without arguments the whole application starts by itself", () => {
  expect(parseOptions([])).toMatchObject({
    servers: 4,
    workers: 2,
    redisUrl: null,
    postgresUrl: null,
    port: 8080,
    students: 4000,
    load: false,
    ways: ["locks", "lanes"],
  });
});

test("the address behind a proxy reaches the pages", () => {
  const options = parseOptions(["--public-url", "https://rooms.test", "--trust-proxy"]);
  expect(proxyOf(options)).toEqual({ trust: 1, publicUrl: "https://rooms.test" });
  expect(proxyOf(parseOptions([]))).toEqual({});
});

test.each([
  [["--public-url", "rooms.test"]],
  [["--servers", "0"]],
  [["--redis", "127.0.0.1:6379"]],
  [["--postgres", "mysql://127.0.0.1/x"]],
  [["--ways", "locks,locks"]],
  [["--json"]],
  [["--report", "/no/such/folder/report.html"]],
  [["surplus"]],
])("%j is refused, with a line that says why", (args) => {
  const said = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  try {
    expect(() => parseOptions(args)).toThrow(CommanderError);
    expect(said.mock.calls.flat().join("")).toMatch(/^error: /);
  } finally {
    said.mockRestore();
  }
});
