/** Who is counted: addresses however they are written, and proxies only as far as they are trusted. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import fc from "fast-check";
import { Holdfast, InvalidArgumentError } from "holdfast";
import {
  AddressList,
  type Incoming,
  ipKey,
  type RateLimitOptions,
  RequestLimiter,
} from "holdfast/middleware";
import { describe, expect, test } from "vitest";
import { clientAddress, type Trust, trustedOf } from "../../src/middleware/client-address.js";

describe("a key by address", () => {
  test.each([
    ["203.0.113.7", "203.0.113.7"],
    [" 203.0.113.7 ", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["::FFFF:cb00:7107", "203.0.113.7"],
    ["0:0:0:0:0:ffff:203.0.113.7", "203.0.113.7"],
    ["0000:0000:0000:0000:0000:ffff:cb00:7107", "203.0.113.7"],
    ["2001:db8:1:2ff:aaaa::1", "2001:db8:1:200::/56"],
    ["2001:0DB8:0001:0200::", "2001:db8:1:200::/56"],
    ["2001:db8:1:200::203.0.113.7", "2001:db8:1:200::/56"],
    ["fe80::1%eth0", "fe80::/56"],
    ["::1", "::/56"],
    ["::203.0.113.7", "::/56"],
    ["64:ff9b::203.0.113.7", "203.0.113.7"],
    ["64:ff9b:1::203.0.113.7", "64:ff9b:1::/56"],
  ])("%s is counted as %s", (address, key) => {
    expect(ipKey(address)).toBe(key);
  });

  test.each([
    "",
    "localhost",
    "203.0.113",
    "203.0.113.256",
    "203.0.113.07",
    "1.2.3.4.5",
    ":::",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7::8",
    "12345::",
    "::1.2.3",
    "g::",
    "1.2.3.4::",
    "1.2.3.4::1",
    "1:1.2.3.4::",
  ])("%j is no address: all such share one count", (address) => {
    expect(ipKey(address)).toBe("unknown");
  });

  test.each([null, undefined, 5, {}, ["203.0.113.7"]])("%j has no key, not even a shared one", (address) => {
    expect(() => ipKey(address as string)).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT", argument: "address" }),
    );
  });

  test("as long a prefix as is wanted", () => {
    const address = "2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff";
    expect([32, 64, 128].map((prefix) => ipKey(address, prefix))).toEqual([
      "2001:db8::/32",
      "2001:db8:aaaa:bbbb::/64",
      address,
    ]);
    expect(ipKey("203.0.113.7", 64)).toBe("203.0.113.7");
  });

  test.each([0, -1, 56.5, 129, Number.NaN, "56"])(
    "a prefix of %j is refused, whatever the address",
    (prefix) => {
      for (const address of ["2001:db8::1", "203.0.113.7", null])
        expect(() => ipKey(address, prefix as number)).toThrow(InvalidArgumentError);
    },
  );

  test("all addresses of a network have one key, and no other has it, in any notation", () => {
    const words = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(words, words, fc.boolean(), (one, two, isUpper) => {
        const text = one.map((word) => word.toString(16).padStart(isUpper ? 4 : 1, "0")).join(":");
        const neighbour = [
          ...one.slice(0, 3),
          (one[3] as number) ^ ((two[3] as number) & 0xff),
          ...two.slice(4),
        ];
        const far = [(one[0] as number) ^ 1, ...one.slice(1)];
        const keyOf = (groups: number[]) => ipKey(groups.map((word) => word.toString(16)).join(":"));
        const isMapped = one.slice(0, 5).every((word) => word === 0) && one[5] === 0xffff;
        fc.pre(!isMapped);
        expect(ipKey(isUpper ? text.toUpperCase() : text)).toBe(keyOf(neighbour));
        expect(keyOf(far)).not.toBe(keyOf(one));
      }),
      { seed: 7, numRuns: 300 },
    );
  });
});

describe("a list of addresses", () => {
  const list = new AddressList([
    "10.0.0.0/8",
    "192.0.2.1",
    "2001:db8::/32",
    "::ffff:198.51.100.0/120",
    "::1",
  ]);

  test.each([
    ["10.255.0.1", true],
    ["11.0.0.1", false],
    ["::ffff:10.1.2.3", true],
    ["192.0.2.1", true],
    ["192.0.2.2", false],
    ["198.51.100.77", true],
    ["198.51.101.77", false],
    ["2001:db8:ffff::1", true],
    ["2001:db8:1:200::/56", true],
    ["2001::/16", false],
    ["2001:db9::1", false],
    ["::1", true],
    ["::/56", false],
    ["unknown", false],
    ["", false],
  ])("has %s: %s", (address, is) => {
    expect(list.has(address)).toBe(is);
  });

  test.each([
    ["64:ff9b::/64", "64:ff9b::203.0.113.7", true],
    ["64:ff9b::/64", "64:ff9b::1:0:0:1", true],
    ["64:ff9b::/64", "203.0.113.7", false],
    ["64:ff9b::/64", "64:ff9b:0:1::1", false],
    ["64:ff9b::203.0.113.0/120", "203.0.113.7", true],
    ["203.0.113.0/24", "64:ff9b::203.0.113.7", true],
    ["::/0", "::ffff:203.0.113.7", false],
    ["::/0", "2001:db8::1", true],
  ])("%s has %s: %s", (network, address, is) => {
    expect(new AddressList([network]).has(address)).toBe(is);
  });

  test.each(["10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "example.org", "::/129", "::ffff:1.2.3.4/64"])(
    "of %s cannot be made",
    (network) => {
      expect(() => new AddressList([network])).toThrow(InvalidArgumentError);
    },
  );
});

describe("the client behind proxies", () => {
  const found = (trust: Trust | undefined, connected: string | null, forwardedFor: string | null) =>
    clientAddress(connected, forwardedFor, trustedOf(trust));

  test.each([
    ["nobody is trusted", undefined, "10.0.0.1", "203.0.113.7", "10.0.0.1"],
    ["nobody is trusted, and that is said", false, "10.0.0.1", "203.0.113.7", "10.0.0.1"],
    ["one proxy", 1, "10.0.0.1", "203.0.113.7", "203.0.113.7"],
    ["one proxy, and what the client made up", 1, "10.0.0.1", "6.6.6.6, 203.0.113.7", "203.0.113.7"],
    ["two proxies", 2, "10.0.0.1", "6.6.6.6, 203.0.113.7, 10.0.0.2", "203.0.113.7"],
    ["more proxies than there are", 5, "10.0.0.1", "203.0.113.7", "203.0.113.7"],
    ["a socket without an address", 1, null, "203.0.113.7", "203.0.113.7"],
    ["networks", ["10.0.0.0/8"], "10.0.0.1", "6.6.6.6, 203.0.113.7, 10.0.0.2", "203.0.113.7"],
    ["networks, from elsewhere", ["10.0.0.0/8"], "203.0.113.7", "6.6.6.6", "203.0.113.7"],
    ["networks, all of them trusted", ["10.0.0.0/8"], "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
    ["networks, mapped", ["10.0.0.0/8"], "::ffff:10.0.0.1", "203.0.113.7", "203.0.113.7"],
    ["a port", 1, "10.0.0.1", "203.0.113.7:4711", "203.0.113.7"],
    ["a port and brackets", 1, "10.0.0.1", "[2001:db8::7]:4711", "2001:db8::7"],
    ["brackets", 1, "10.0.0.1", "[2001:db8::7]", "2001:db8::7"],
    ["nonsense", 1, "10.0.0.1", "203.0.113.7, unknown", "10.0.0.1"],
    ["an empty word", 1, "10.0.0.1", "203.0.113.7,", "10.0.0.1"],
    ["no header", 1, "10.0.0.1", null, "10.0.0.1"],
  ] as const)("%s", (_, trust, connected, forwardedFor, client) => {
    expect(found(trust, connected, forwardedFor)).toBe(client);
  });

  test.each([-1, 1.5, "loopback", ["example.org"], true])("%j cannot be trusted", (trust) => {
    expect(() => trustedOf(trust as Trust)).toThrow(InvalidArgumentError);
  });
});

describe("what can hardly be meant is told once, and changes nothing", () => {
  /** A limiter that never gets as far as Redis. */
  async function told(
    options: Partial<RateLimitOptions<unknown>>,
    forwardedFor: string | null,
  ): Promise<unknown[]> {
    const heard: unknown[] = [];
    const hear = (message: unknown) => heard.push((message as { problem: string }).problem);
    const hf = new Holdfast("redis://127.0.0.1:1", { callTimeout: 10 });
    const limits = hf.limit("l", { max: 1, per: "1h", outage: "open" });
    const limiter = new RequestLimiter<unknown>(hf, { limits, ...options });
    const request: Incoming<unknown> = {
      method: "GET",
      address: "10.0.0.1",
      header: (name) => (name === "x-forwarded-for" ? forwardedFor : null),
      identity: {},
      raw: null,
    };
    subscribe("holdfast:middleware:misuse", hear);
    try {
      for (let at = 0; at < 3; at += 1) {
        const { answer } = await limiter.admit({ ...request, identity: {} });
        expect(answer).toBeNull();
      }
    } finally {
      unsubscribe("holdfast:middleware:misuse", hear);
      await hf.close();
    }
    return heard;
  }

  test.each([
    ["a forwarded request, and nobody is trusted", {}, "203.0.113.7", ["forwarded-ignored"]],
    ["the same, and that is said", { trust: false }, "203.0.113.7", []],
    ["the same, and no key is an address", { key: () => "me" }, "203.0.113.7", []],
    ["no proxy at all", {}, null, []],
    ["a trusted proxy that forwards", { trust: 1 }, "203.0.113.7", []],
    ["a trusted proxy that does not say for whom", { trust: ["10.0.0.0/8"] }, null, ["forwarded-missing"]],
    ["somebody else who does not", { trust: ["192.0.2.0/24"] }, null, []],
  ] as const)("%s", async (_, options, forwardedFor, problems) => {
    expect(await told(options, forwardedFor)).toEqual(problems);
  });
});
