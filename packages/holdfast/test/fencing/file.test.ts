/** The fenced file: every interleaving of two writers with one switch each, and what it says of its arguments. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InvalidArgumentError, StaleTokenError } from "holdfast";
import { FencedFile, systemFiles } from "holdfast/fencing/file";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { quickFiles as quick, quickFolder } from "./quick-files.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-file-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function moveToMemory(): void {
  rmSync(folder, { recursive: true });
  folder = quickFolder();
}

const holder = (fence: bigint, id = `id-${fence}`) => ({ fence, id });
const text = (content: Buffer | null) => content?.toString() ?? null;

describe("one after the other", () => {
  test("a paused holder is refused, and told which token overtook it", async () => {
    const file = new FencedFile(join(folder, "f"));
    expect(await file.read()).toEqual({ content: null, fence: 0n });
    expect(await file.enter(holder(33n))).toBeNull();
    await file.enter(holder(34n));
    await file.write(holder(34n), "new");
    const refusal = expect.objectContaining({ resource: file.path, token: 33n, seen: 34n });
    await expect(file.write(holder(33n), "old")).rejects.toThrow(refusal);
    await expect(file.enter(holder(33n))).rejects.toThrow(StaleTokenError);
    expect(readFileSync(file.path, "utf8")).toBe("new");
    expect(await file.read()).toEqual({ content: Buffer.from("new"), fence: 34n });
  });

  test("entering is enough to refuse an older holder that has read [H62]", async () => {
    const file = new FencedFile(join(folder, "f"));
    await file.enter(holder(1n));
    await file.enter(holder(2n));
    await expect(file.write(holder(1n), "x")).rejects.toThrow(StaleTokenError);
  });

  test("one holder writes as often as it likes; another's equal token is refused [H63]", async () => {
    const file = new FencedFile(join(folder, "f"));
    const same = new FencedFile(join(folder, "f"));
    for (const content of ["a", "a", "b"]) await file.write(holder(5n), content);
    await same.write(holder(5n), "c");
    const refusal = expect.objectContaining({ token: 5n, seen: 5n });
    await expect(file.enter(holder(5n, "other"))).rejects.toThrow(refusal);
    await expect(file.write(holder(5n, "other"), "x")).rejects.toThrow(refusal);
    expect(await file.read()).toEqual({ content: Buffer.from("c"), fence: 5n });
  });

  test("writes of one object that are begun at once are carried out in their order", async () => {
    const file = new FencedFile(join(folder, "f"));
    await Promise.all(["a", "b", "c", "d"].map((content) => file.write(holder(1n), content)));
    expect(await file.read()).toEqual({ content: Buffer.from("d"), fence: 1n });
  });

  test("little is left beside it", async () => {
    const file = new FencedFile(join(folder, "f"));
    for (let token = 1n; token <= 20n; token++) {
      for (let write = 0; write < 3; write++) await file.write(holder(token), "x");
    }
    const left = readdirSync(file.folder).map((name) => name.split(".").slice(0, 2).join("."));
    expect(left.sort()).toEqual(["data.20", "fence.20"]);
  });

  test("bytes, long tokens, permissions, and a file that was there before", async () => {
    const path = join(folder, "f");
    writeFileSync(path, "before");
    const file = new FencedFile(path, { mode: 0o600 });
    expect(await file.read()).toEqual({ content: Buffer.from("before"), fence: 0n });
    expect(text(await file.enter(holder(2n ** 63n - 2n)))).toBe("before");
    await file.write(holder(2n ** 63n - 1n), new Uint8Array([0, 255]));
    expect(await file.read()).toEqual({ content: Buffer.from([0, 255]), fence: 2n ** 63n - 1n });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await expect(file.write(holder(2n ** 63n - 2n), "x")).rejects.toThrow(StaleTokenError);
    writeFileSync(path, "by a program that knows no fence");
    rmSync(path);
    writeFileSync(path, "by another");
    expect(await file.read()).toEqual({ content: Buffer.from("by another"), fence: 0n });
  });

  test("what can never work is refused", async () => {
    const file = new FencedFile(join(folder, "f"));
    await expect(file.enter({ fence: 1 as never, id: "a" })).rejects.toThrow(InvalidArgumentError);
    await expect(file.write(holder(1n), 5 as never)).rejects.toThrow(InvalidArgumentError);
    expect(() => new FencedFile("")).toThrow(InvalidArgumentError);
    expect(() => new FencedFile("f", null as never)).toThrow(InvalidArgumentError);
    expect(() => new FencedFile("f", { mod: 0o600 } as never)).toThrow(InvalidArgumentError);
    expect(() => new FencedFile("f", { mode: 1.5 })).toThrow(InvalidArgumentError);
    await expect(new FencedFile(join(folder, "none/f")).write(holder(1n), "x")).resolves.toBeUndefined();
  });

  test("an error of the file system changes nothing, passes as it is, and leaves the file usable", async () => {
    for (const failing of ["create", "link", "sync", "list", "rename"] as const) {
      const path = join(folder, failing);
      await new FencedFile(path).write(holder(1n), "one");
      let left = 0;
      const files = {
        ...systemFiles,
        [failing]: (...words: never[]) => {
          if (left-- === 0) throw Object.assign(new Error("disk full"), { code: "ENOSPC" });
          return (systemFiles[failing] as (...words: never[]) => unknown)(...words);
        },
      };
      for (let place = 0; ; place++) {
        left = place;
        const before = await new FencedFile(path).read();
        const error = await new FencedFile(path, { files })
          .write(holder(2n), "two")
          .then(() => null)
          .catch((reason: unknown) => reason);
        if (error === null) break;
        expect(error).toMatchObject({ code: "ENOSPC" });
        const after = await new FencedFile(path).read();
        expect([before, { content: Buffer.from("two"), fence: 2n }]).toContainEqual(after);
      }
      expect(await new FencedFile(path).read()).toEqual({ content: Buffer.from("two"), fence: 2n });
    }
  });
});

/** A writer that stops before a step until it is let go. */
class Writer {
  readonly stopped: Promise<void>;
  readonly done: Promise<"written" | "refused">;
  #go: () => void = () => {};
  steps = 0;

  constructor(path: string, by: { fence: bigint; id: string }, stopAt: number) {
    let reached: () => void = () => {};
    const going = new Promise<void>((resolve) => {
      this.#go = resolve;
    });
    const reaching = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const gated = Object.entries(quick).map(([name, operation]) => [
      name,
      async (...words: never[]) => {
        if (++this.steps === stopAt) {
          reached();
          await going;
        }
        return operation(...words);
      },
    ]);
    this.done = this.#work(new FencedFile(path, { files: Object.fromEntries(gated) }), by);
    this.stopped = Promise.race([reaching, this.done.then(() => {})]);
  }

  go(): void {
    this.#go();
  }

  async #work(file: FencedFile, by: { fence: bigint; id: string }): Promise<"written" | "refused"> {
    try {
      const before = text(await file.enter(by)) ?? "";
      await file.write(by, `${before} ${by.fence}/${by.id}`.trim());
      return "written";
    } catch (error) {
      if (error instanceof StaleTokenError) return "refused";
      throw error;
    }
  }
}

describe("two writers, each stopped once at every step", () => {
  beforeEach(moveToMemory);

  async function lengthOf(): Promise<number> {
    const path = join(folder, "length");
    await new FencedFile(path, { files: quick }).write(holder(1n), "0/start");
    const writer = new Writer(path, holder(2n), 0);
    await writer.done;
    return writer.steps;
  }

  async function forEveryPair(
    first: { fence: bigint; id: string },
    second: { fence: bigint; id: string },
    check: (place: {
      ends: ["written" | "refused", "written" | "refused"];
      content: string;
      fence: bigint;
    }) => void,
  ): Promise<void> {
    const length = (await lengthOf()) + 3;
    for (let one = 1; one <= length; one++) {
      for (let two = 1; two <= length; two++) {
        const path = join(folder, `${one}-${two}`);
        const file = new FencedFile(path, { files: quick });
        await file.write(holder(1n), "1/start");
        let newest = 1n;
        const look = async () => {
          const { content, fence } = await file.read();
          expect(text(content)?.split(" ").at(-1)).toMatch(new RegExp(`^${fence}/`));
          expect(fence).toBeGreaterThanOrEqual(newest);
          newest = fence;
          return text(content) ?? "";
        };
        const a = new Writer(path, first, one);
        await a.stopped;
        await look();
        const b = new Writer(path, second, two);
        await b.stopped;
        await look();
        a.go();
        const endOfA = await a.done;
        await look();
        b.go();
        const endOfB = await b.done;
        try {
          check({ ends: [endOfA, endOfB], content: await look(), fence: newest });
        } catch (error) {
          throw new Error(`steps ${one} and ${two}`, { cause: error });
        }
      }
    }
  }

  const [older, newer] = [holder(2n), holder(3n)];
  const name = ({ fence, id }: { fence: bigint; id: string }) => `${fence}/${id}`;

  test("the older first: the newer one always writes, and loses no update of the older", {
    timeout: 180_000,
  }, async () => {
    let refused = 0;
    await forEveryPair(older, newer, ({ ends: [old, young], content }) => {
      expect(young).toBe("written");
      const expected = ["1/start", ...(old === "written" ? [name(older)] : []), name(newer)];
      expect(content.split(" ")).toEqual(expected);
      if (old === "refused") refused++;
    });
    expect(refused).toBeGreaterThan(0);
  });

  test("the newer first", { timeout: 180_000 }, async () => {
    let refused = 0;
    await forEveryPair(newer, older, ({ ends: [young, old], content }) => {
      expect(young).toBe("written");
      const expected = ["1/start", ...(old === "written" ? [name(older)] : []), name(newer)];
      expect(content.split(" ")).toEqual(expected);
      if (old === "refused") refused++;
    });
    expect(refused).toBeGreaterThan(0);
  });

  test("of one holder: both write", { timeout: 180_000 }, async () => {
    const both = holder(2n);
    await forEveryPair(both, both, ({ ends, content }) => {
      expect(ends).toEqual(["written", "written"]);
      expect(content.split(" ").at(-1)).toBe(name(both));
    });
  });

  test("of one token: exactly one of them writes", { timeout: 180_000 }, async () => {
    const [a, b] = [holder(2n, "a"), holder(2n, "b")];
    await forEveryPair(a, b, ({ ends, content }) => {
      expect([...ends].sort()).toEqual(["refused", "written"]);
      expect(content).toBe(`1/start ${name(ends[0] === "written" ? a : b)}`);
    });
  });
});

describe("a reader stopped at every step", () => {
  beforeEach(moveToMemory);

  test.each([1, 2, 3, 4, 5, 6])(
    "while the file is replaced %i times tells the token of what it read",
    async (times) => {
      const path = join(folder, "f");
      const file = new FencedFile(path, { files: quick });
      await file.write(holder(1n), "1");
      let [token, last] = [1n, 0];
      for (let stopAt = 1; last + 1 >= stopAt; stopAt++) {
        let step = 0;
        const gated = Object.entries(quick).map(([name, operation]) => [
          name,
          async (...words: never[]) => {
            if (++step === stopAt) {
              token++;
              // The number of a freed file is given to another, sooner or later.
              for (let write = 0; write < times; write++) await file.write(holder(token), String(token));
            }
            return operation(...words);
          },
        ]);
        const { content, fence } = await new FencedFile(path, { files: Object.fromEntries(gated) }).read();
        expect(text(content)).toBe(String(fence));
        last = step;
      }
      expect(last).toBeGreaterThan(2);
    },
  );
});
