/** A history survives its processes: written line by line, cut anywhere, read again and put together. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { History } from "../../src/history/history.ts";
import { appendTo, fromLines, toLine } from "../../src/history/ndjson.ts";
import type { Operation } from "../../src/history/operation.ts";
import { Recorder } from "../../src/history/recorder.ts";

describe("a history", () => {
  test("collects what recorders see, in the order of beginning", () => {
    let nowMs = 0;
    const history = new History();
    const first = history.recorder("w1", () => nowMs++);
    const second = history.recorder("w2", () => nowMs++);
    const asked = first.begin("acquire", "k");
    second.begin("acquire", "k").fail("busy");
    asked.ok({ token: 7n, nonce: "a" });
    first.begin("release", "k", { token: 7n }).info("timeout");
    expect(history.operations).toEqual([
      {
        process: "w1",
        seq: 0,
        f: "acquire",
        key: "k",
        invMs: 0,
        retMs: 3,
        type: "ok",
        token: 7n,
        nonce: "a",
      },
      { process: "w2", seq: 0, f: "acquire", key: "k", invMs: 1, retMs: 2, type: "fail", error: "busy" },
      {
        process: "w1",
        seq: 1,
        f: "release",
        key: "k",
        invMs: 4,
        retMs: 5,
        type: "info",
        token: 7n,
        error: "timeout",
      },
    ]);
    expect(history.counts()).toEqual({ "acquire ok": 1, "acquire fail": 1, "release info": 1 });
  });

  test("has one writer for each process, and each operation once", () => {
    const history = new History();
    const recorder = history.recorder("w1", () => 0);
    expect(() => history.recorder("w1", () => 0)).toThrow("w1 has a recorder");
    const begun = recorder.begin("acquire", "k");
    const ended = begun.ok();
    expect(() => begun.ok()).toThrow("has ended before");
    expect(() => history.add(ended)).toThrow("there twice");
    expect(() => History.merge([toLine(ended), toLine(ended)])).toThrow("two files speak for the process w1");
  });

  test("comes back from its lines as it was: bigints, unknown outcomes, calls that never returned", () => {
    const operations: Operation[] = [
      {
        process: "w1",
        seq: 0,
        f: "write",
        key: "a \n b",
        invMs: 0.25,
        retMs: null,
        type: "info",
        token: 2n ** 63n - 1n,
        value: { sum: 3n, list: [1n, "2n", null], text: "{}" },
      },
      { process: "w2", seq: 0, f: "read", key: "k", invMs: 1, retMs: 2, type: "ok", value: null },
    ];
    const history = History.of(operations);
    expect(history.toNdjson().split("\n")).toHaveLength(3);
    expect(History.merge([history.toNdjson()]).operations).toEqual(operations);
  });

  test("is what was written before a process was killed, wherever the last line breaks off", () => {
    const lines: string[] = [];
    let nowMs = 0;
    const recorder = new Recorder(
      "w1",
      () => nowMs++,
      (operation) => lines.push(toLine(operation)),
    );
    recorder.begin("acquire", "k").ok({ token: 41n });
    recorder.begin("write", "file", { token: 41n }).ok();
    const text = lines.join("");
    const wholeBefore = lines.slice(0, 3).join("").length;
    for (let length = wholeBefore; length < text.length; length++) {
      const { operations } = History.merge([text.slice(0, length)]);
      expect(operations.map(({ f, type, retMs }) => [f, type, retMs])).toEqual([
        ["acquire", "ok", 1],
        ["write", "info", null],
      ]);
    }
    expect(() => [...fromLines(`${text.slice(0, 30)}\n${text}`)]).toThrow("line 1 is damaged");
    expect(() => [...fromLines("{}\n")]).toThrow("line 1 is not an operation");
  });

  test("is in the file before the recorder goes on", () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-history-"));
    try {
      const path = join(folder, "w1.ndjson");
      const recorder = new Recorder("w1", () => 0, appendTo(path));
      recorder.begin("acquire", "k");
      expect(History.merge([readFileSync(path, "utf8")]).operations).toHaveLength(1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
