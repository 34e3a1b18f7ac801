/** The arithmetic of a quorum. */
import { expect, test } from "vitest";
import {
  claimIdOf,
  comesBefore,
  commonTicket,
  fenceOf,
  leaseStart,
  mayHaveQuorum,
  ownerOf,
  quorumOf,
  resultOf,
  seatId,
} from "../../src/locks/backends/redlock/votes.js";

const at = (ms: number) => ({ monoMs: ms, wallMs: ms });

test("two quorums always share a node, of even numbers as well", () => {
  for (let nodes = 1; nodes <= 9; nodes++) {
    expect(2 * quorumOf(nodes)).toBeGreaterThan(nodes);
    expect(2 * (quorumOf(nodes) - 1)).toBeLessThanOrEqual(nodes);
  }
});

test("a result is certain as soon as no answer to come can change it, and failures are told from refusals", () => {
  const of = (nodes: number, granted: number, asking: number, failed: number) =>
    resultOf({ nodes, granted, asking, failed });
  expect([of(3, 2, 1, 0), of(3, 2, 0, 1), of(1, 1, 0, 0)]).toEqual(["quorum", "quorum", "quorum"]);
  expect([of(3, 1, 1, 0), of(3, 0, 2, 1), of(4, 2, 1, 0)]).toEqual(["open", "open", "open"]);
  // Refused by two of three, or by two of four: even halves are no quorum.
  expect([of(3, 0, 1, 0), of(4, 2, 0, 0), of(5, 2, 0, 1)]).toEqual(["busy", "busy", "busy"]);
  // Whether it is busy, or too many nodes are away, is not certain yet.
  expect([of(3, 0, 1, 1), of(5, 0, 1, 2)]).toEqual(["open", "open"]);
  expect([of(3, 0, 1, 2), of(4, 2, 0, 2), of(1, 0, 0, 1)]).toEqual(["no-quorum", "no-quorum", "no-quorum"]);
});

test("a lease counts from the oldest seat of its youngest quorum", () => {
  expect(leaseStart([at(10), at(30), at(20)], 3, at(40))).toEqual(at(20));
  expect(leaseStart([at(10), at(30)], 3, at(40))).toEqual(at(10));
  expect(leaseStart([at(30)], 3, at(40))).toBe(null);
  // The wall clock was set back or the machine slept: the larger age counts.
  const slept = { monoMs: 39, wallMs: 5 };
  expect(leaseStart([at(20), slept], 2, at(40))).toEqual(slept);
});

test("a ticket is the median of the clocks that are known, and its own clock only when none is", () => {
  expect(commonTicket(["0000000000000007", "0000000000000001", "0000000000000003"], "9")).toBe(
    "0000000000000003",
  );
  expect(commonTicket(["0", "0000000000000005", "0000000000000004"], "9")).toBe("0000000000000004");
  expect(commonTicket(["0", "0"], "9")).toBe("9");
});

test("claims come in the order of the lines: by ticket, then by id", () => {
  expect(comesBefore({ ticket: "9", id: "b" }, { ticket: "10", id: "a" })).toBe(true);
  expect(comesBefore({ ticket: "10", id: "a" }, { ticket: "10", id: "b" })).toBe(true);
  expect(comesBefore({ ticket: "10", id: "b" }, { ticket: "10", id: "a" })).toBe(false);
  expect(comesBefore({ ticket: "10", id: "a" }, { ticket: "10", id: "a" })).toBe(false);
});

test("a seat names its claim", () => {
  expect([seatId("abc", 0), seatId("abc", 2)]).toEqual(["abc", "abc.2"]);
  expect([claimIdOf("abc"), claimIdOf("abc.2")]).toEqual(["abc", "abc"]);
});

test("somebody may have a quorum as long as the nodes that are not known could make one", () => {
  expect(mayHaveQuorum(["a", "b", "c"], 0)).toBe(false);
  expect(mayHaveQuorum(["a", "b", null], 1)).toBe(true);
  expect(mayHaveQuorum(["a", "b", null], 0)).toBe(false);
  expect(mayHaveQuorum(["a", "a", "b"], 0)).toBe(true);
  expect(mayHaveQuorum(["a", "a", "b", "b"], 0)).toBe(false);
  expect(mayHaveQuorum([null, null, null], 1)).toBe(false);
});

test("the owner is that of most nodes, with the token on which its quorum agreed", () => {
  const owner = { host: "h", pid: 1, label: "x", sinceMs: 5, fence: 7n };
  const seat = (id: string, token: bigint, top: bigint, label = id) => ({
    owner: { ...owner, label, fence: token },
    holder: { id, token, top },
  });
  const seats = [seat("b", 90n, 90n), seat("a", 5n, 9n), seat("a.1", 7n, 9n, "a"), seat("a", 30n, 32n)];
  expect(ownerOf(seats)).toEqual({ ...owner, label: "a", fence: 7n });
  expect(ownerOf([])).toBe(null);
  expect(ownerOf([{ owner: null, holder: null }])).toBe(null);
  expect(fenceOf([{ id: "a", token: 5n, top: 5n }])).toBe(5n);
  // The seat with the largest token is not among those that answered.
  expect(
    fenceOf([
      { id: "a", token: 5n, top: 9n },
      { id: "a", token: 20n, top: 22n },
    ]),
  ).toBe(7n);
});

test("a seat that came back carries the token of its claim in its id", () => {
  const back = { id: seatId("a", 2, 5n), token: 80n, top: 90n };
  expect(back.id).toBe("a.2.5");
  expect(fenceOf([{ id: "a", token: 7n, top: 90n }, back])).toBe(5n);
  expect(fenceOf([{ id: "a.1.x", token: 7n, top: 9n }])).toBe(7n);
});
