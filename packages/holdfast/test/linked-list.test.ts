import { describe, expect, test } from "vitest";
import { type Linked, LinkedList } from "../src/linked-list.ts";

interface Item extends Linked<Item> {
  readonly id: number;
}

function item(id: number): Item {
  return { id, previous: null, next: null };
}

describe("a linked list", () => {
  test("is as a Set, whatever is added and deleted", () => {
    const list = new LinkedList<Item>();
    const expected = new Set<Item>();
    const items = Array.from({ length: 8 }, (_, id) => item(id));
    let state = 7;
    for (let step = 0; step < 5_000; step += 1) {
      state = (state * 48_271) % 2_147_483_647;
      const one = items[state % items.length] as Item;
      expect(list.has(one)).toBe(expected.has(one));
      if (!expected.has(one)) {
        list.add(one);
        expected.add(one);
      } else {
        expect(list.delete(one)).toBe(expected.delete(one));
      }
      expect(list.toArray().map(({ id }) => id)).toEqual([...expected].map(({ id }) => id));
      expect([list.size, list.first?.id]).toEqual([expected.size, [...expected][0]?.id]);
    }
  });

  test("an item that was deleted is deleted once, and leads to no other", () => {
    const list = new LinkedList<Item>();
    const [one, two, three] = [item(1), item(2), item(3)] as const;
    for (const each of [one, two, three]) list.add(each);
    expect([list.delete(two), list.delete(two)]).toEqual([true, false]);
    expect([two.previous, two.next]).toEqual([null, null]);
    expect([one.next, three.previous]).toEqual([three, one]);
    expect(list.delete(item(4))).toBe(false);
    expect(list.size).toBe(2);
  });
});
